

# ---- Shapes that only values would show follow from those of other cases.
class Shapes:
    """What is known of a case without its values."""

    def __init__(self, tree, node, result=None, draws=1):
        self.tree = tree
        self.node = node
        self.result = result  # None: only its values show it
        self.draws = draws


def followed(known, numbers):
    """The extents that go with `numbers`, if each is one of these or always the same in `known`: a list of
    such numbers, by name, and their extents. None: the known ones are too few or too alike to tell."""
    if len(known) < LOOKED_AT:
        return None
    seen = {name: {each.get(name) for each, _ in known} for name in numbers}
    extents = []
    for values in zip(*(each for _, each in known)):
        same = [
            name
            for name in numbers
            if len(seen[name]) > 1 and all(each.get(name) == value for (each, _), value in zip(known, values))
        ]
        possible = {numbers[name] for name in same}
        if not same and len(set(values)) == 1:
            if all(len(seen[name]) > 1 or numbers[name] in seen[name] for name in numbers):
                possible = {values[0]}
        if len(possible) != 1:
            return None
        extents.append(possible.pop())
    return extents


def extents_of(tree):
    return [extent for _, tensor in tree.tensors for extent in tensor.shape]


def in_shapes(torch, extents, like):
    """A tree like another, of tensors without values that have these extents."""
    made = Tree(torch, None)
    for name, tensor in like.tensors:
        shape, extents = extents[: tensor.dim()], extents[tensor.dim() :]
        made.tensors.append((name, torch.empty(shape, dtype=tensor.dtype, device="meta")))
    return made


def follow_arguments(torch, found, cases):
    """Shapes of data that only its values would show, by the arguments of the cases, as in the others."""
    known = [i for i, shapes in enumerate(found) if shapes is not None]
    if not known:
        return
    like = found[known[0]]
    for i in known:
        tensors = found[i].tree.tensors
        if found[i].node != like.node or found[i].tree.numbers or not all(t.is_contiguous() for _, t in tensors):
            return

    def numbers_of(case):
        return {
            name: value for name, value in case.items()
            if name != "seed" and isinstance(value, int) and not isinstance(value, bool)
        }  # fmt: skip

    examples = [(numbers_of(cases[i]), extents_of(found[i].tree)) for i in known]
    for i, shapes in enumerate(found):
        extents = followed(examples, numbers_of(cases[i])) if shapes is None else None
        if extents is not None:
            found[i] = Shapes(in_shapes(torch, extents, like.tree), like.node)


def follow_places(torch, found, looked):
    """Shapes of results where ref_kernel returns nothing: those of the tensors of data that it writes into."""
    seen = next(iter(looked.values()))[2]
    for shapes in found:
        if "in" not in seen["result"] or shapes is None or shapes.result is not None:
            continue
        shapes.result = Tree(torch, None)
        shapes.result.tensors = [shapes.tree.tensors[i] for i in seen["result"]["in"]]


def follow_data(torch, found, looked):
    """Shapes of results that only their values would show, by the shapes and numbers of data."""
    def numbers_of(tree):
        numbers = {
            (i, k): extent for i, (_, tensor) in enumerate(tree.tensors) for k, extent in enumerate(tensor.shape)
        }
        for i, (_, value) in enumerate(tree.numbers):
            if isinstance(value, int) and not isinstance(value, bool):
                numbers[i] = value
        return numbers

    examples = [(numbers_of(tree), extents_of(seen["outs"])) for tree, _, seen in looked.values()]
    like = next(iter(looked.values()))[2]["outs"]
    if like.numbers or any(len(extents) != len(examples[0][1]) for _, extents in examples):
        return
    for i, shapes in enumerate(found):
        if i in looked or shapes is None or shapes.result is not None:
            continue
        extents = followed(examples, numbers_of(shapes.tree))
        if extents is not None:
            shapes.result = in_shapes(torch, extents, like)
