

# ---- Nested values as a description has them (describe_problem.py, Tree): taken apart and put together.
import torch as _torch


def rebuilt(node, tensors, numbers, objects=None):
    """The value that a node stands for. `objects`: those before it, in the order in which they are complete."""
    objects = [] if objects is None else objects
    if "tensor" in node:
        tensor = tensors[node["tensor"]]
        if "item" in node:
            return tensor.item()
        return tensor[node["at"]] if "at" in node else tensor
    if "number" in node:
        return numbers[node["number"]]
    if "constant" in node:
        return constant_value(node["constant"], tensors)
    if "again" in node:
        return objects[node["again"]]
    if "object" in node:
        form, inner = node["object"]
        objects.append(made_again(form, rebuilt(inner, tensors, numbers, objects)))
        return objects[-1]
    if "dict" in node:
        parts = members((part for _, part in node["dict"]), [key for key, _ in node["dict"]], tensors)
        return {key: rebuilt(part, tensors, numbers, objects) for key, part in parts}
    kind = tuple if "tuple" in node else list
    parts = members(node[kind.__name__], [None] * len(node[kind.__name__]), tensors)
    return kind([rebuilt(part, tensors, numbers, objects) for _, part in parts])


def members(parts, keys, tensors):
    """(key, node) of what a container holds. {"each": [[before, after, i], ...]} is as many members as
    tensor i has in its outermost dimension, which take turns and have their number in their keys."""
    for key, part in zip(keys, parts):
        if "each" not in part:
            yield key, part
            continue
        for k in range(len(tensors[part["each"][0][2]])):
            for before, after, i in part["each"]:
                yield f"{before}{k}{after}", {"tensor": i, "at": k}


class Flat:
    """The tensors and numbers of a value, in the order of its node."""

    def __init__(self, node, value):
        self.tensors = []
        self.numbers = []
        self._add(node, value)

    def _add(self, node, value):
        if "tensor" in node:
            self.tensors.append(value)
        elif "number" in node:
            self.numbers.append(value)
        elif "dict" in node:
            for key, part in node["dict"]:
                self._add(part, value if "each" in part else value[key])
        elif "each" in node:
            for before, after, _ in node["each"]:
                self.tensors.append(_torch.stack(counted(value, before, after)))
        elif "object" in node:
            self._add(node["object"][1], state_of(value))
        elif "constant" not in node and "again" not in node:
            parts = node.get("tuple", node.get("list", []))
            for part, one in zip(parts, [value] if parts and "each" in parts[0] else value):
                self._add(part, one)


def written_in(node, data_node, data):
    """The results of functions that return nothing: the tensors of `data` that they write into."""
    tensors = Flat(data_node, data).tensors
    return tuple(tensors[i] for i in node["in"])


def counted(container, before, after):
    """The tensors of a dict whose keys count them, or of a list."""
    if not isinstance(container, dict):
        return list(container)
    found = []
    while f"{before}{len(found)}{after}" in container:
        found.append(container[f"{before}{len(found)}{after}"])
    return found


# The verifier knows these names (runner_reply.cc).
class ReturnedCountError(TypeError):
    pass


class ReturnedTypeError(TypeError):
    pass


class ReturnedShapeError(TypeError):
    pass


class ReturnedDtypeError(TypeError):
    pass


def leaves(node, value, what):
    """The tensors of a result in their order; TypeError if it is nested otherwise."""
    if "tensor" in node:
        return [value]
    kind = "tuple" if "tuple" in node else "list" if "list" in node else "dict"
    if "constant" in node or "again" in node:
        return []
    if "object" in node:
        return leaves(*inner_of(node, value, what), what)
    parts = node[kind]
    if kind == "dict":
        if not isinstance(value, dict) or any(key not in value for key, _ in parts):
            raise ReturnedTypeError(f"{what} must be a dict with {[key for key, _ in parts]}")
        return [leaf for key, part in parts for leaf in leaves(part, value[key], what)]
    if not isinstance(value, (tuple, list)) or len(value) != len(parts):
        raise ReturnedCountError(f"{what} must be a {kind} of {len(parts)} values")
    return [leaf for part, one in zip(parts, value) for leaf in leaves(part, one, what)]


def inner_of(node, value, what):
    """The node of what an object of a result holds, and the same of another, whatever its class is."""
    form, inner = node["object"]
    if "dict" in inner and not isinstance(value, dict):
        names = [name for name, _ in inner["dict"]]
        if not all(hasattr(value, str(name)) for name in names):
            raise ReturnedTypeError(f"{what} must be a {form['class'][1]} with {names}")
        value = {name: getattr(value, str(name)) for name in names}
    return inner, value
