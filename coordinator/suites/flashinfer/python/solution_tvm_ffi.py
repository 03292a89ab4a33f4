import os

try:
    import tvm_ffi
except ImportError:
    raise ImportError(
        "this solution is bound by tvm-ffi: install apache-tvm-ffi for the Python of the workers"
    ) from None


def _cuda_libraries():
    """Where libcudart.so lies: beside nvcc, or where toolkits are usually put."""
    programs = [os.path.join(folder, "nvcc") for folder in os.environ["PATH"].split(os.pathsep)]
    roots = [os.path.dirname(os.path.dirname(os.path.realpath(path)))
             for path in programs if os.access(path, os.X_OK)]
    for root in [*roots, "/usr/local/cuda"]:
        for folder in ("targets/x86_64-linux/lib", "lib64", "lib"):
            if os.path.exists(os.path.join(root, folder, "libcudart.so")):
                return ["-L" + os.path.join(root, folder)]
    return []


def _build(built):
    import torch
    import tvm_ffi.cpp

    if @WITH_CUDA@ and torch.cuda.is_available():
        # With the instructions of this generation alone, too.
        major, minor = torch.cuda.get_device_capability()
        target = f"{major}.{minor}{'a' if major >= 9 else ''}"
        os.environ.setdefault("TVM_FFI_CUDA_ARCH_LIST", target)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "@PACKAGE@")
    os.makedirs(built, exist_ok=True)
    tvm_ffi.cpp.build(
        name="@PACKAGE@",
        cpp_files=[os.path.join(folder, path) for path in [@CPP_SOURCES@]],
        cuda_files=[os.path.join(folder, path) for path in [@CUDA_SOURCES@]],
        extra_include_paths=[folder],
        extra_ldflags=[*_cuda_libraries(), "-lcuda", "-lcublas"] if @WITH_CUDA@ else [],
        build_directory=built,
    )


def _load():
    built = os.path.join(os.environ["TVM_FFI_CACHE_DIR"], "@PACKAGE@")
    library = os.path.join(built, "@PACKAGE@.so")
    if not os.path.exists(library):
        _build(built)
    return getattr(tvm_ffi.load_module(library), "@SYMBOL@")
