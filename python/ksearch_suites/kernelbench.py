"""Writes the problems in files of KernelBench's data set as the folder of files that ksearch reads.

    python3 -m ksearch_suites.kernelbench DATASET --out FOLDER
    ksearch-coordinator --suite kernelbench:FOLDER

DATASET is a .parquet file of ScalingIntelligence/KernelBench, or a folder of them. Each row is a problem (columns
code, level, name and problem_id) and becomes FOLDER/level<L>/<N>_<Name>.py, where upstream's checkout has it. A file
that is there already stays if it says the same; nothing is overwritten.

It needs pyarrow: pip install 'ksearch[kernelbench]', or pyarrow itself.
"""

import argparse
import pathlib
import re
import sys

_COLUMNS = ("code", "level", "name", "problem_id")
_MOST_CODE_BYTES = 1 << 20
_MOST_NUMBER = 1_000_000


class Fault(Exception):
    """An error in the data set, with the file and the row."""


def _parquet_files(data_set):
    if not data_set.exists():
        raise Fault(f"{data_set} does not exist")
    if data_set.is_file():
        return [data_set]
    files = sorted(data_set.rglob("*.parquet"))
    if not files:
        raise Fault(f"{data_set} has no .parquet file")
    return files


def _is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_NUMBER


def _place_of(row, where):
    """The path of a problem's file below the folder."""
    for column in ("level", "problem_id"):
        if not _is_number(row[column]):
            raise Fault(f"{where}: {column} is {row[column]!r}, must be a whole number from 1")
    if not isinstance(row["name"], str) or not row["name"]:
        raise Fault(f"{where}: name is {row['name']!r}, must be a text")
    number = f"{row['problem_id']}_"
    # Upstream's local names end in .py, those of the data set do not.
    title = row["name"].removesuffix(".py").removeprefix(number)
    title = re.sub(r"[^A-Za-z0-9_-]", "_", title)[:100]
    return pathlib.PurePosixPath(f"level{row['level']}", f"{number}{title}.py")


def _code_of(row, where):
    code = row["code"]
    if not isinstance(code, str) or not code.strip():
        raise Fault(f"{where}: code is empty")
    if len(code.encode()) > _MOST_CODE_BYTES:
        raise Fault(f"{where}: code has more than {_MOST_CODE_BYTES} bytes")
    return code


def read_problems(data_set):
    """{path below the folder: text of the problem}. Raises Fault."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise Fault(f"pyarrow is missing ({error}): pip install pyarrow") from None
    problems = {}
    origins = {}
    for file in _parquet_files(pathlib.Path(data_set)):
        try:
            table = pyarrow.parquet.read_table(file, columns=None)
        except (OSError, pyarrow.ArrowException) as error:
            hint = ""
            with open(file, "rb") as start:
                if start.read(40).startswith(b"version https://git-lfs"):
                    hint = "; it is a Git LFS pointer: run `git lfs pull` in the data set"
            raise Fault(f"{file}: is not readable as parquet: {error}{hint}") from None
        missing = [column for column in _COLUMNS if column not in table.column_names]
        if missing:
            raise Fault(f"{file}: has no column {', '.join(missing)}, so it is none of KernelBench's")
        for index, row in enumerate(table.select(_COLUMNS).to_pylist()):
            where = f"{file}: row {index}"
            place = _place_of(row, where)
            key = (place.parts[0], row["problem_id"])
            if key in origins:
                raise Fault(f"{where}: {place.parts[0]} has a problem {row['problem_id']} already, in {origins[key]}")
            origins[key] = where
            problems[place] = _code_of(row, where)
    return problems


def write_problems(problems, folder):
    """Returns how many files were written, and how many were there."""
    folder = pathlib.Path(folder)
    differing = [
        str(place)
        for place, code in problems.items()
        if (folder / place).exists() and (folder / place).read_bytes() != code.encode()
    ]
    if differing:
        raise Fault(f"{folder / differing[0]} is there and says something else; give --out another folder")
    written = 0
    for place, code in problems.items():
        path = folder / place
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file is there whole or not at all.
        partial = path.with_suffix(".partial")
        partial.write_bytes(code.encode())
        partial.rename(path)
        written += 1
    return written, len(problems) - written


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python3 -m ksearch_suites.kernelbench",
        description="Writes the problems of KernelBench's data set (parquet) as the files that ksearch reads.",
    )
    parser.add_argument("data_set", metavar="DATASET", help="a .parquet file, or a folder of them")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="where level1/, level2/, ... come to lie")
    options = parser.parse_args(arguments)
    try:
        written, there = write_problems(read_problems(options.data_set), options.out)
    except Fault as fault:
        print(f"ksearch_suites.kernelbench: {fault}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"ksearch_suites.kernelbench: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{options.out}: {written} problems written" + (f", {there} were there" if there else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
