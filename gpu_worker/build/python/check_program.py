"""Parses a program in Python without running any of it: check_program.py ENTRY MAIN FILE...

Prints what is wrong as compilers do, "file:line:column: error: message" with the line that is meant,
and ends with 1 if anything is. MAIN, one of the files, must define ENTRY at its top level. What no
kernel needs is a warning that begins with "source: ".
"""

import ast
import io
import sys
import tokenize
import warnings

from program_marks import marks_of

MAX_LINE = 200


def complain(path, message, line=0, column=0, text=None):
    place = path
    if line:
        place += f":{line}"
        if column:
            place += f":{column}"
    out = f"{place}: error: {message}\n"
    if text is not None:
        quoted = text.rstrip().expandtabs(1)[:MAX_LINE]
        out += f"{line:5} | {quoted}\n"
        if 0 < column <= len(quoted) + 1:
            out += " " * 5 + " | " + " " * (column - 1) + "^\n"
    sys.stdout.buffer.write(out.encode("utf-8", "replace"))


def parse(path):
    """The syntax tree, or None after a complaint."""
    try:
        with open(path, "rb") as file:
            source = file.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        if encoding not in ("utf-8", "utf-8-sig"):
            complain(path, f"is in {encoding}; source files must be UTF-8", 1)
            return None
        tree = ast.parse(source, path)
        # What a syntax tree may say but no program: "return" outside of a function.
        compile(tree, path, "exec", dont_inherit=True)
        return tree
    except SyntaxError as error:  # IndentationError, too
        kind = "" if type(error) is SyntaxError else type(error).__name__ + ": "
        complain(path, kind + str(error.msg), error.lineno or 0, error.offset or 0, error.text)
    except (RecursionError, MemoryError):
        complain(path, "is nested too deeply, or too large, to be parsed")
    except ValueError as error:
        complain(path, str(error))
    return None


def names_of(target):
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*(names_of(part) for part in target.elts))
    if isinstance(target, ast.Starred):
        return names_of(target.value)
    return set()


def may_define(entry, statements):
    """Whether running these statements may leave `entry` defined in their own scope."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            if statement.name == entry:
                return True
        elif isinstance(statement, ast.Assign):
            if any(entry in names_of(target) for target in statement.targets):
                return True
        elif isinstance(statement, ast.AnnAssign):
            if statement.value is not None and entry in names_of(statement.target):
                return True
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                if alias.name == "*" or (alias.asname or alias.name) == entry:
                    return True
        elif not isinstance(statement, ast.AsyncFunctionDef):
            # Bodies of if, for, while, with and try, which are of the same scope.
            for field in ("body", "orelse", "finalbody", "handlers"):
                parts = getattr(statement, field, [])
                if field == "handlers":
                    parts = [one for handler in parts for one in handler.body]
                if may_define(entry, parts):
                    return True
    return False


def warn_of_marks(path, tree):
    try:
        marks = marks_of(tree)
    except (RecursionError, MemoryError):
        marks = [(1, "is nested too deeply", "to be read")]
    for line, kind, word in marks:
        # No line of the program is shown, which could look like another message.
        out = f"{path}:{line}: warning: source: {kind}: {word}\n"
        sys.stdout.buffer.write(out.encode("utf-8", "replace"))


def main():
    warnings.simplefilter("ignore")
    entry, main_path = sys.argv[1:3]
    good = True
    for path in sys.argv[3:]:
        tree = parse(path)
        if tree is None:
            good = False
        elif path == main_path and not may_define(entry, tree.body):
            complain(
                path,
                f"defines no function '{entry}' at its top level: "
                f"define {entry}(inputs..., outputs...), "
                f"or {entry}(inputs...) that returns the outputs",
            )
            good = False
        else:
            warn_of_marks(path, tree)
    return 0 if good else 1


sys.exit(main())
