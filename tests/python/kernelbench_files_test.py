#!/usr/bin/env python3
"""usage: kernelbench_files_test.py PACKAGES SOURCE_DIR COORDINATOR: KernelBench's data set, written by the real pyarrow,
becomes a folder of problems, and a coordinator reads it."""

import os
import pathlib
import subprocess
import sys
import tempfile

PYARROW = ["pyarrow==26.0.1"]


def main():
    packages, source, coordinator = sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import package_index
    python = package_index.interpreter(packages, PYARROW)
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{source}/python", "HOME": folder}
        sys.exit(subprocess.run([python, __file__, "inside", folder, coordinator], env=environment).returncode)


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([sys.executable, "-m", "ksearch_suites.kernelbench", *map(str, words)],
                          capture_output=True, text=True)


def fails(text, *words):
    done = run(*words)
    expect(done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr,
           f"{words}: {done.returncode}, {done.stdout}{done.stderr}; wanted: {text}")


def write(path, rows):
    import pyarrow
    import pyarrow.parquet
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def problem(number, name, level=1, code="import torch\n"):
    return {"code": code, "level": level, "name": name, "problem_id": number}


def inside(folder, coordinator):
    folder = pathlib.Path(folder)
    data = folder / "KernelBench" / "data"
    write(data / "level_1-00000-of-00001.parquet",
          [problem(1, "1_Square_matrix_multiplication_"), problem(23, "23_Softmax", code="a = '\u00fc'\r\n")])
    write(data / "level_2-00000-of-00001.parquet", [problem(1, "Conv2D_ReLU.py", level=2)])
    out = folder / "problems"

    refused = subprocess.run([coordinator, "--state-dir", folder / "state", "--suite",
                              f"kernelbench:{folder / 'KernelBench'}"], capture_output=True, text=True, timeout=60)
    expect(refused.returncode != 0 and "python3 -m ksearch_suites.kernelbench" in refused.stderr, refused.stderr)

    done = run(folder / "KernelBench", "--out", out)
    expect(done.returncode == 0 and done.stdout == f"{out}: 3 problems written\n", done.stdout + done.stderr)
    found = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    expect(found == ["level1/1_Square_matrix_multiplication_.py", "level1/23_Softmax.py", "level2/1_Conv2D_ReLU.py"],
           f"{found}")
    expect((out / "level1/23_Softmax.py").read_bytes() == "a = '\u00fc'\r\n".encode(), "the text changed")
    again = run(data / "level_1-00000-of-00001.parquet", "--out", out)
    expect(again.returncode == 0 and "0 problems written, 2 were there" in again.stdout, again.stdout + again.stderr)

    (out / "level1/23_Softmax.py").write_text("mine\n")
    fails("says something else", data, "--out", out)
    expect((out / "level1/23_Softmax.py").read_text() == "mine\n", "a file was overwritten")

    bad = folder / "bad"
    fails("does not exist", bad, "--out", out)
    bad.mkdir()
    fails("has no .parquet file", bad, "--out", out)
    file = bad / "x.parquet"
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    fails("git lfs pull", file, "--out", out)
    file.write_bytes(os.urandom(3000))
    fails("is not readable as parquet", file, "--out", out)
    write(file, [{"code": "x", "level": 1}])
    fails("has no column name, problem_id", file, "--out", out)
    for row, text in [(problem(0, "n"), "row 0: problem_id is 0"), (problem(1, "n", level=-1), "row 0: level is -1"),
                      (problem(1, "n", code=" "), "row 0: code is empty"), (problem(1, ""), "row 0: name is ''")]:
        write(file, [row])
        fails(text, file, "--out", folder / "none")
    write(file, [problem(1, "a"), problem(1, "b")])
    fails("row 1: level1 has a problem 1 already", file, "--out", folder / "none")
    write(file, [problem(7, "../../../etc/passwd")])
    done = run(file, "--out", folder / "escape")
    expect(done.returncode == 0 and [p.name for p in (folder / "escape/level1").iterdir()] == ["7__________etc_passwd.py"],
           done.stdout + done.stderr)
    expect(not (folder / "none").exists(), "a refused data set left files")
    print("ok")


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        inside(*sys.argv[2:])
    else:
        main()
