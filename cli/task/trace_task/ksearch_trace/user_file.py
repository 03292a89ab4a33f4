"""The user's file, as it is written."""

import ast
import contextlib
import importlib.util
import inspect
import os
import random
import sys
import textwrap

from ksearch_trace.refused import Refused, place, words


def load(path):
    """The module, and the names of files beside it that it imports."""
    before = set(sys.modules)
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location("ksearch_traced_" + name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Refused(f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}")
    except BaseException as error:  # SystemExit too
        raise Refused(f"{place(path, error)}: importing the file ended in {words(error)}")
    for imported in sorted(set(sys.modules) - before - {spec.name}):
        file = getattr(sys.modules[imported], "__file__", None) or ""
        if os.path.dirname(os.path.abspath(file)) == folder and file:
            raise Refused(
                f"{path}: it imports {imported} from its own folder, but a program of a task is "
                "one file: move what it needs into this one"
            )
    return module


def seed_all(torch, seed):
    random.seed(seed)
    torch.manual_seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed)


def load_twice(torch, path, assumed):
    """The module, and another of the same file that was loaded before it with other random values.

    The other is None where a file can be loaded only once.
    """
    seed_all(torch, 2)
    twin = load(path)
    seed_all(torch, 1)
    try:
        return load(path), twin
    except Refused as error:
        assumed.append(
            f"the file cannot be imported a second time ({error}), so it was not tried whether the"
            " function depends on random values of the import"
        )
        return twin, None


def find_function(module, path, name):
    own = [
        found
        for found, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not found.startswith("_")
        and found != "make_inputs"
    ]
    if not name:
        if len(own) == 1:
            return own[0]
        have = ", ".join(own) if own else "none"
        raise Refused(f"{path}: say which function, as {path}:FUNCTION; the file defines {have}")
    value = getattr(module, name, None)
    if value is None:
        raise Refused(
            f"{path}: there is no function '{name}'; the file defines {', '.join(own) or 'none'}"
        )
    if not inspect.isfunction(value):
        kind = "a class" if inspect.isclass(value) else type(value).__name__
        raise Refused(f"{path}: '{name}' is {kind}, not a function: write a function that calls it")
    return name


def check_signature(path, module, chosen, function):
    if chosen != "run" and hasattr(module, "run"):
        raise Refused(
            f"{path}: the file defines 'run' besides '{chosen}', but that is what a "
            "task's program is called by: give it another name"
        )
    line = f"{path}:{function.__code__.co_firstlineno}: {chosen}"
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind == parameter.VAR_POSITIONAL:
            raise Refused(f"{line}: argument '*{name}': a task has a fixed list of inputs")
        if parameter.kind == parameter.VAR_KEYWORD:
            raise Refused(f"{line}: argument '**{name}': a task has a fixed list of inputs")
        if parameter.kind == parameter.POSITIONAL_ONLY:
            raise Refused(f"{line}: argument '{name}' is positional only: remove the '/'")
        if parameter.kind == parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise Refused(
                f"{line}: argument '{name}' can be given by keyword only and has no default: "
                "give it one, or move it before the '*'"
            )


def shape_of_annotation(annotation, axes):
    """ "n d" of an annotation that says so, as a text or as jaxtyping does; else None."""
    if not isinstance(annotation, str):
        return getattr(annotation, "dim_str", None)
    text = annotation.strip()
    if text[:1] in (
        '"',
        "'",
    ):  # as it stands in the file, after `from __future__ import annotations`
        with contextlib.suppress(ValueError, SyntaxError):
            text = str(ast.literal_eval(text))
    shape = text.split()
    # One word may be a type.
    known = all(word.isdigit() or word in axes for word in shape)
    named = len(shape) > 1 and all(word.isidentifier() or word.isdigit() for word in shape)
    return text if shape and (known or named) else None


def result_names(function, count, taken):
    """As the function's last `return` names them, else output or output_0, output_1, ..."""
    names = []
    with contextlib.suppress(OSError, SyntaxError, TypeError, IndexError):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)][-1]
        parts = returned.elts if isinstance(returned, ast.Tuple) else [returned]
        names = [part.id if isinstance(part, ast.Name) else "" for part in parts]
    if len(names) != count or len(set(names)) != count or "" in names or set(names) & set(taken):
        names = ["output"] if count == 1 else [f"output_{i}" for i in range(count)]
    return [name if name not in taken else name + "_result" for name in names]
