"""Triton's interpreter, which runs kernels in Triton on processors, for triton_programs_test.py.

`triton_in(FOLDER)` is the module, from FOLDER, or why there is none: the first call has pip install it there
from the package index, about 190 MB that pip keeps in its cache and 0.5 GB on disk.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time

VERSION = "3.6.0"  # the version of the figures in docs/internals/benchmarks.md
PIP_SECONDS = 120
QUIET_SECONDS = 3600  # after pip took too long


class NoTriton(Exception):
    """In one line, why."""


def last_error(output):
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
    return errors[0].strip()[:300] if errors else "no word of why"


def pip_install(target):
    command = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "--timeout", "15"]
    command += ["--retries", "1", "--target", target, "triton==" + VERSION]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PIP_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"pip took more than {PIP_SECONDS} s for triton {VERSION}") from None
    if done.returncode != 0:
        python = ".".join(map(str, sys.version_info[:3]))
        why = last_error(done.stdout)
        if "(from versions: none)" in why:  # pip's words for both
            why = "it reached no package index, or one without triton for this Python"
        raise NoTriton(f"pip did not install triton {VERSION} for Python {python}: {why}")


def install(folder, target):
    late = os.path.join(folder, "pip_took_too_long")
    try:
        if time.time() - os.path.getmtime(late) < QUIET_SECONDS:
            raise NoTriton(f"pip took too long less than an hour ago; to try again, remove {late}")
    except FileNotFoundError:
        pass
    partial = target + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        pip_install(partial)
    except TimeoutError as error:
        with open(late, "w", encoding="utf-8"):
            pass
        raise NoTriton(str(error)) from None
    else:
        os.rename(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def mend(torch):
    """Adds what the interpreter lacks: it has bfloat16 as bits, which tl.dot multiplies as integers, and cuts
    float32 off where a GPU rounds it to bfloat16; and it wants a torch of 2.0 or newer."""
    import numpy
    import triton.language as tl
    from triton.runtime import interpreter

    if not hasattr(torch.Tensor, "untyped_storage"):
        torch.Tensor.untyped_storage = lambda tensor: tensor.storage().untyped()

    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    dot, truncate = builder.create_dot, builder.create_fp_trunc

    def widened(operand):
        if operand.dtype.scalar != tl.bfloat16:
            return operand
        bits = operand.data.astype(numpy.uint32) << 16
        return handle(bits.view(numpy.float32), tl.float32)

    def rounded(self, source, kind):
        if source.dtype.scalar != tl.float32 or kind.scalar != tl.bfloat16:
            return truncate(self, source, kind)
        values = numpy.ascontiguousarray(source.data, dtype=numpy.float32)
        bits = values.view(numpy.uint32).astype(numpy.uint64)
        bits += 0x7FFF + ((bits >> 16) & 1)
        bits = numpy.where(numpy.isnan(values), 0x7FC00000, bits)
        return handle((bits >> 16).astype(numpy.uint16), tl.bfloat16)

    builder.create_dot = lambda self, a, b, *rest: dot(self, widened(a), widened(b), *rest)
    builder.create_fp_trunc = rounded


def triton_in(folder):
    try:
        import torch
    except ImportError:
        raise NoTriton("no torch: deploy/install_deps.sh --with-python") from None
    target = os.path.join(folder, f"triton-{VERSION}-{sys.implementation.cache_tag}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(target):
            install(folder, target)
    sys.path.insert(0, target)
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        import triton
    except (ImportError, OSError) as error:
        raise NoTriton(f"triton {VERSION} cannot be loaded here: {error}") from None
    mend(torch)
    return triton
