import os

import torch
from torch.utils import cpp_extension


def _load():
    if @WITH_CUDA@ and torch.cuda.is_available():
        # With the instructions of this generation alone, too.
        major, minor = torch.cuda.get_device_capability()
        target = f"{major}.{minor}{'a' if major >= 9 else ''}"
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", target)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "@PACKAGE@")
    extension = cpp_extension.load(
        name="@PACKAGE@",
        sources=[os.path.join(folder, path) for path in [@SOURCES@]],
        extra_include_paths=[folder],
        with_cuda=@WITH_CUDA@,
    )
    if not hasattr(extension, "@SYMBOL@"):
        raise AttributeError(
            "the solution's module, made by PYBIND11_MODULE, exports no function '@SYMBOL@'"
        )
    return extension.@SYMBOL@
