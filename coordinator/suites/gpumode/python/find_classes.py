

# ---- Classes of objects in data that reference.py defines, which submissions do not have beside them.
def module_of(name):
    return importlib.import_module(name)


def bound_names(statement):
    """The names that a statement at the top level gives something."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    found = set()
    for part in ast.walk(statement):
        if isinstance(part, (ast.Import, ast.ImportFrom)):
            found.update((each.asname or each.name).split(".")[0] for each in part.names)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.add(part.name)
    return found


def named(statement):
    return {part.id for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def with_what_they_name(text, names):
    """The statements of a file that define these names, and what they name in turn."""
    statements = ast.parse(text).body
    bound = [bound_names(statement) for statement in statements]
    kept, wanted = set(), set(names)
    while True:
        new = {
            i
            for i, statement in enumerate(statements)
            if i not in kept
            and (bound[i] & wanted or "*" in bound[i] or getattr(statement, "module", None) == "__future__")
        }
        if not new:
            break
        kept |= new
        wanted |= {name for i in new for name in named(statements[i])}
    return "\n\n".join(ast.unparse(statements[i]) for i in sorted(kept)) + "\n"


def classes_of_reference(module, trees):
    """The text that defines the classes of these trees as reference.py does; "" if they need none of it."""
    names = {name.split(".")[0] for tree in trees for where, name in tree.classes if where == module.__name__}
    if not names:
        return ""
    text = with_what_they_name(inspect.getsource(module), names)
    try:
        exec(compile(text, "reference.py", "exec"), {"__name__": module.__name__})
    except Exception as error:
        raise Refused(
            f"reference.py defines {sorted(names)[0]}, of which data has objects, so that it cannot be had without the "
            f"rest of the file: {type(error).__name__}: {error}"
        )
    return text
