

# ---- Tensors whose number differs from case to case: what cases share is that their keys count them.
def readings(key):
    """The ways to read a key as a number within text: (before, number, after)."""
    for found in re.finditer("[0-9]+", key if isinstance(key, str) else ""):
        if found[0] == str(int(found[0])):
            yield key[: found.start()], int(found[0]), key[found.end() :]


def lengths(keys):
    """How many keys are counted from 0 without a gap, by the text around the number."""
    numbers = {}
    for key in keys:
        for before, number, after in readings(key):
            numbers.setdefault((before, after), set()).add(number)
    return {name: len(each) for name, each in numbers.items() if each == set(range(len(each)))}


def arranged(keys, series):
    """The keys, and for series a list of those that take turns. None: a key is of two series."""
    arrangement = []
    turns = False  # the key before began a series
    for key in keys:
        own = [(before, number, after) for before, number, after in readings(key) if (before, after) in series]
        if len(own) > 1:
            return None
        begins = bool(own) and own[0][1] == 0
        if begins and turns:
            arrangement[-1].append((own[0][0], own[0][2]))
        elif begins:
            arrangement.append([(own[0][0], own[0][2])])
        elif not own:
            arrangement.append(key)
        turns = begins
    return arrangement


def follows(keys, arrangement):
    """Whether a case has these keys in this order."""
    known = lengths(keys)
    spelled = []
    for part in arrangement:
        if not isinstance(part, list):
            spelled.append(part)
            continue
        counts = {known.get(name, 0) for name in part}
        if len(counts) > 1:
            return False
        spelled += [f"{before}{k}{after}" for k in range(counts.pop()) for before, after in part]
    return spelled == keys


def find_series(nodes, path=()):
    """What to pass to `grouped`: by the path to a container, the arrangement of a dict, or None for a list
    or tuple of tensors. None: the nodes of the cases differ in more than how many tensors these have."""
    kinds = {next(iter(node)) for node in nodes}
    if len(kinds) > 1:
        return None
    kind = kinds.pop()
    if kind in ("tensor", "number"):
        return {}
    if kind in ("constant", "again"):
        return {} if all(node == nodes[0] for node in nodes) else None
    if kind == "object":
        forms, held = zip(*(node["object"] for node in nodes))
        return find_series(list(held), (*path, kind)) if all(form == forms[0] for form in forms) else None
    if kind != "dict":
        parts = [node[kind] for node in nodes]
        if len({len(each) for each in parts}) > 1:
            return {path: None} if all(each and all("tensor" in one for one in each) for each in parts) else None
        return joined(find_series(list(each), (*path, i)) for i, each in enumerate(zip(*parts)))
    keys = [[key for key, _ in node["dict"]] for node in nodes]
    parts = [dict(node["dict"]) for node in nodes]
    found = {}
    if any(each != keys[0] for each in keys):
        known = [lengths(each) for each in keys]
        series = {name for name in known[0] if len({each.get(name) for each in known}) > 1}
        arrangement = arranged(max(keys, key=len), series)
        if arrangement is None or not all(follows(each, arrangement) for each in keys):
            return None
        found[path] = arrangement
        names = [name for part in arrangement if isinstance(part, list) for name in part]
        for before, after in names:
            if any("tensor" not in each.get(f"{before}0{after}", {}) for each in parts):
                return None
        keys[0] = [part for part in arrangement if not isinstance(part, list)]
    return joined([found, *(find_series([each[key] for each in parts], (*path, key)) for key in keys[0])])


def joined(plans):
    whole = {}
    for plan in plans:
        if plan is None:
            return None
        whole.update(plan)
    return whole


def grouped(torch, node, tree, series):
    """`node` and `tree` with one tensor for each series, whose outermost dimension is their number."""
    new = Tree(torch, None)
    new.classes = tree.classes

    def stack(name, members):
        tensors = []
        for member in members:
            if "tensor" not in member:
                raise Refused(f"'{name}' holds more than tensors, whose number differs from case to case")
            tensors.append(tree.tensors[member["tensor"]][1])
        if len({(each.shape, each.dtype) for each in tensors}) > 1:
            raise Refused(f"'{name}' has tensors of several shapes or types, whose number differs from case to case")
        if not all(each.is_contiguous() for each in tensors):
            raise Refused(f"'{name}' has permuted tensors, whose number differs from case to case")
        new.tensors.append((name, torch.stack(tensors)))
        return len(new.tensors) - 1

    def name_of(member, key, shared):
        own = tree.tensors[member["tensor"]][0] if "tensor" in member else key
        return (own[: len(own) - len(key)] + shared).rstrip("_") or "x"

    def again(node, path):
        kind = next(iter(node))
        if kind == "tensor":
            new.tensors.append(tree.tensors[node["tensor"]])
            return {"tensor": len(new.tensors) - 1}
        if kind == "number":
            new.numbers.append(tree.numbers[node["number"]])
            return {"number": len(new.numbers) - 1}
        if kind in ("constant", "again"):
            return node
        if kind == "object":
            return {kind: [node[kind][0], again(node[kind][1], (*path, kind))]}
        parts = node[kind]
        if kind != "dict":
            if path not in series:
                return {kind: [again(part, (*path, i)) for i, part in enumerate(parts)]}
            if not parts:
                raise Refused("data has a list of tensors that is empty in one case")
            return {kind: [{"each": [["", "", stack(name_of(parts[0], "0", ""), parts)]]}]}
        if path not in series:
            return {"dict": [[key, again(part, (*path, key))] for key, part in parts]}
        keys, members = [key for key, _ in parts], dict(parts)
        if not follows(keys, series[path]):
            raise Refused("data has other keys from case to case")
        made = []
        for part in series[path]:
            if not isinstance(part, list):
                made.append([part, again(members[part], (*path, part))])
                continue
            each = []
            for before, after in part:
                own = [members[f"{before}{k}{after}"] for k in range(lengths(keys)[before, after])]
                name = name_of(own[0], f"{before}0{after}", before.rstrip("._-") + after)
                each.append([before, after, stack(name, own)])
            made.append([None, {"each": each}])
        return {"dict": made}

    return again(node, ()), new
