

# ---- Nested values as JSON, with names for their parts.
MOST_DEPTH = 64  # of nested containers
# What gives a tensor in another form.
FORMS = ("contiguous", "clone", "detach", "to", "cuda", "float", "half", "bfloat16", "T", "mT")
# What a number in a result is a tensor of.
ITEMS = {"bool": "bool", "int": "int64", "float": "float32"}


def kind_of(number):
    return "bool" if isinstance(number, bool) else "int" if isinstance(number, int) else "float"


class Tree:
    """Nested values as JSON: {"tuple": [...]}, {"list": [...]}, {"dict": [[key, node]...]},
    {"tensor": i}, {"number": i}, {"constant": value}, {"object": [form, node of what it holds]} (object_forms.py)
    or {"again": i} for an object that is there before, the i-th to be complete; where cases differ in how many
    tensors a container has, also {"each": ...} (nested_values.py). A number in a result is a tensor of one element,
    {"tensor": i, "item": "int"}. Where functions return nothing, "in" of the result's node has the numbers of the
    tensors of data that they write into."""

    def __init__(self, torch, names, of_results=False):
        self._torch = torch
        self._names = names  # of the parts of the outermost tuple; may be None
        self._of_results = of_results
        self.tensors = []  # (name, tensor)
        self.numbers = []  # (name, value)
        self.classes = set()  # (module, name) of what constants and objects are
        self._objects = {}  # id: number, None while it is not complete
        self._complete = 0

    def of(self, value, name="", depth=0):
        if depth > MOST_DEPTH:
            raise Refused(f"data or a result is nested more than {MOST_DEPTH} deep, or holds itself")
        if isinstance(value, self._torch.Tensor):
            if type(value) not in (self._torch.Tensor, self._torch.nn.Parameter):
                raise Refused(f"'{name}' is a {type(value).__name__}, not a plain tensor")
            if value.layout is not self._torch.strided or value.is_quantized:
                raise Refused(f"'{name}' is a sparse or quantized tensor, which no task takes")
            self.tensors.append((name or "x", value))
            return {"tensor": len(self.tensors) - 1}
        if isinstance(value, (bool, int, float)) and not isinstance(value, enum.Enum):
            if self._of_results:
                kind = kind_of(value)
                self.tensors.append((name or "x", self._torch.tensor(value, dtype=getattr(self._torch, ITEMS[kind]))))
                return {"tensor": len(self.tensors) - 1, "item": kind}
            if isinstance(value, float) and not math.isfinite(value):
                raise Refused(f"'{name}' is not a finite number")
            self.numbers.append((name or "number", value))
            return {"number": len(self.numbers) - 1}
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
        try:
            constant = constant_of(value)
        except TypeError:
            return self._object(value, name, depth)
        if isinstance(value, enum.Enum):
            self._note_class(type(value), f"'{name or 'data'}'")
        return {"constant": constant}

    def _object(self, value, name, depth):
        cls, what = type(value), f"'{name or 'data'}'"
        if not can_be_made(cls):
            raise Refused(
                f"{what} holds a {cls.__name__}: only tensors, numbers and texts can be handed on, in tuples, lists, "
                "dicts and objects of classes in Python"
            )
        if id(value) in self._objects:
            if self._objects[id(value)] is None:
                raise Refused(f"{what} is a {cls.__name__} that holds itself")
            return {"again": self._objects[id(value)]}
        self._note_class(cls, what)
        self._objects[id(value)] = None
        if isinstance(value, self._torch.nn.Module):
            for hooks, none in vars(self._torch.nn.Module()).items():
                if "hook" in hooks and vars(value).get(hooks, none) != none:
                    raise Refused(f"{what} is a module with hooks, which cannot be handed on")
        state = state_of(value)
        node = {"object": [form_of(value), self.of(state, name, depth + 1)]}
        self._objects[id(value)] = self._complete
        self._complete += 1
        return node

    def _note_class(self, cls, what):
        where = (cls.__module__, cls.__qualname__)
        try:
            found = class_at(*where)
        except (ImportError, AttributeError):
            found = None
        if found is not cls:
            raise Refused(f"{what} holds a {cls.__name__}, a class that is not at the top level of a file")
        self.classes.add(where)


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


def items_in(node):
    """The kinds of the numbers in a result, by their tensors."""
    if isinstance(node, list):
        return {i: kind for part in node for i, kind in items_in(part).items()}
    if not isinstance(node, dict):
        return {}
    if "item" in node and "tensor" in node:
        return {node["tensor"]: node["item"]}
    return items_in(list(node.values()))
