

# ---- Nested values as JSON, with names for their parts.
MOST_DEPTH = 64  # of nested containers
# What gives a tensor in another form.
FORMS = ("contiguous", "clone", "detach", "to", "cuda", "float", "half", "bfloat16", "T", "mT")


class Tree:
    """Nested values as JSON: {"tuple": [...]}, {"list": [...]}, {"dict": [[key, node]...]},
    {"tensor": i}, {"number": i} or {"constant": value}; where cases differ in how many tensors a container
    has, also {"each": ...} (nested_values.py)."""

    def __init__(self, torch, names):
        self._torch = torch
        self._names = names  # of the parts of the outermost tuple; may be None
        self.tensors = []  # (name, tensor)
        self.numbers = []  # (name, value)

    def of(self, value, name="", depth=0):
        if depth > MOST_DEPTH:
            raise Refused(f"data or a result is nested more than {MOST_DEPTH} deep, or holds itself")
        if isinstance(value, self._torch.Tensor):
            if type(value) not in (self._torch.Tensor, self._torch.nn.Parameter):
                raise Refused(f"'{name}' is a {type(value).__name__}, not a plain tensor")
            self.tensors.append((name or "x", value))
            return {"tensor": len(self.tensors) - 1}
        if isinstance(value, (bool, int, float)):
            if isinstance(value, float) and not math.isfinite(value):
                raise Refused(f"'{name}' is not a finite number")
            self.numbers.append((name or "number", value))
            return {"number": len(self.numbers) - 1}
        if value is None or isinstance(value, str):
            return {"constant": value}
        if type(value) in (tuple, list) or type(value).__module__ == "torch.return_types":
            names = self._names if not name and self._names and len(self._names) == len(value) else None
            parts = [
                self.of(part, names[i] if names else f"{name}_{i}" if name else f"x{i}", depth + 1)
                for i, part in enumerate(value)
            ]
            return {"list" if type(value) is list else "tuple": parts}
        if type(value) is dict:
            parts = []
            for key, part in value.items():
                if not isinstance(key, (str, int)) or isinstance(key, bool):
                    raise Refused(f"'{name}' has keys that are neither text nor whole numbers")
                parts.append([key, self.of(part, f"{name}_{key}" if name else str(key), depth + 1)])
            return {"dict": parts}
        raise Refused(
            f"'{name or 'data'}' holds a {type(value).__name__}: "
            "only tensors, numbers and texts in tuples, lists and dicts can be handed on"
        )


def name_in(part):
    """Of `a`, and of the like of `a.contiguous()` and `a.T`."""
    while not isinstance(part, ast.Name):
        form = part.func if isinstance(part, ast.Call) else part
        if not isinstance(form, ast.Attribute) or form.attr not in FORMS:
            return None
        part = form.value
    return part.id


def returned_names(function):
    """The names in `return a, b, c` at the end of a function, or None."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if len(found) != 1 or not isinstance(found[0], (ast.Tuple, ast.List)):
        return None
    names = [name_in(part) for part in found[0].elts]
    return names if None not in names and len(set(names)) == len(names) else None
