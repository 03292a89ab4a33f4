"""What Triton, torch.compile and torch.utils.cpp_extension need in a process that cannot start a
compiler: the folders of what the warm stage compiled, what they look up while programs can still be
started, and the errors by which a wish to compile ends.
"""

import contextlib
import errno
import inspect
import io
import os
import platform

# Environment variables that name the folders of compiled code.
CACHES = (
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TVM_FFI_CACHE_DIR",
    "TILELANG_CACHE_DIR",
)


def import_triton():
    """Imports Triton, and has it hash its own files, which is part of the key of all it compiles.

    That takes tenths of a second (its library has 400 MB) and touches no device yet.
    """
    # Else it runs `ldconfig` to find the driver, and `file` on the interpreter.
    os.environ.setdefault("TRITON_LIBCUDA_PATH", os.environ.get("LD_LIBRARY_PATH", ""))
    platform.architecture = lambda *_, **__: ("64bit", "ELF")
    import triton.runtime
    import triton.compiler.compiler

    for module in (triton.runtime.cache, triton.compiler.compiler):
        key = getattr(module, "triton_key", None)  # in the one or the other, by Triton's version
        if key is not None:
            key()
            break


def start_triton():
    """Lets Triton do its setup, once per process, while programs can still be started."""
    from triton.runtime import driver

    driver.active.get_current_target()


def start_inductor():
    """Lets torch.compile on CPUs look for its compiler, while programs can still be started.

    What it finds is part of its keys, so reading a filled cache needs it, too.
    """
    from torch._inductor import cpp_builder, cpu_vec_isa

    options = cpp_builder.CppTorchDeviceOptions(
        vec_isa=cpu_vec_isa.pick_vec_isa(), device_type="cpu"
    )
    builder = cpp_builder.CppBuilder(name="o", sources="i.cpp", BuildOption=options)
    builder.get_command_line()


def drop_file_locks():
    """Keeps torch from creating locks beside compiled code, where nothing can be written any more."""
    from torch.utils import _filelock

    _filelock.FileLock = lambda *_, **__: contextlib.nullcontext()


def import_built_extensions():
    """Makes torch.utils.cpp_extension import what the warm stage built.

    By itself it would first make a lock beside it, where nothing can be written any more.
    """
    from torch.utils import cpp_extension

    signature = inspect.signature(cpp_extension._jit_compile)

    def import_built(*values, **named):
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        return cpp_extension._import_module_from_library(
            bound.arguments["name"],
            bound.arguments["build_directory"],
            bound.arguments["is_python_module"],
        )

    cpp_extension._jit_compile = import_built

    # Before torch 2.0, load_inline also writes the sources once more that lie there.
    def opened(path, mode="r", *values, **named):
        if "w" in mode and os.path.exists(path):
            return io.StringIO()
        return open(path, mode, *values, **named)

    cpp_extension.open = opened


class NotCompiledError(RuntimeError):
    """A call tried to compile something that was not compiled in the warm stage."""


def wants_compiler(error):
    """Whether an exception, or one that led to it, is how a wish to compile ends where nothing can
    be written or started."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EPERM, errno.ENOSYS):
            return True
        error = error.__cause__ or error.__context__
    return False
