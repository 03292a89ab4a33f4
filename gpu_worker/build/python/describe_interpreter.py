"""Prints the facts that interpreter.h needs about the interpreter that runs it, one a line: a word, a
tab, the value. Runs with -I, on any Python 3."""

import os
import sys
import sysconfig


def say(word, value):
    text = str(value).replace("\n", " ").replace("\r", " ")
    sys.stdout.write(word + "\t" + text + "\n")


def say_folder(path):
    """Prints a path as it is, since it is looked up by that name, and with its links resolved."""
    if path and os.path.exists(path):
        say("folder", os.path.abspath(path))
        say("folder", os.path.realpath(path))


say("implementation", sys.implementation.name)
say("python", "%d.%d.%d" % sys.version_info[:3])
for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
    say_folder(prefix)
for path in sys.path:
    say_folder(path)
say_folder(os.path.dirname(sys.executable))
say_folder(os.path.dirname(os.path.realpath(sys.executable)))
try:
    import torch

    say("torch", torch.__version__)
    say("torch_cuda", torch.version.cuda or "")
    say_folder(os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__))))
except Exception as error:
    say("torch_error", "%s: %s" % (type(error).__name__, error))
for word, package in (
    ("triton", "triton"),  # nothing needs it on processors
    ("tvm-ffi", "apache-tvm-ffi"),
    ("tilelang", "tilelang"),
):
    try:
        from importlib import metadata

        say(word, metadata.version(package))
    except Exception:
        pass
# Triton builds a C module for every kernel that it launches, and looks for Python.h here.
scheme = getattr(sysconfig, "get_default_scheme", lambda: "posix_prefix")()
if scheme == "posix_local":
    scheme = "posix_prefix"
headers = sysconfig.get_path("include", scheme)
if os.path.exists(os.path.join(headers, "Python.h")):
    say("headers", headers)
    say_folder(headers)
for compiler in ("gcc", "clang"):
    if os.access("/usr/bin/" + compiler, os.X_OK):
        say("c_compiler", "/usr/bin/" + compiler)
        break
