

def _ksearch_program():
    import ctypes
    import struct

    import torch
    from torch.utils.cpp_extension import load_inline

    on_gpu = @ON_GPU@
    declared = (
        "#include <cstdint>\n"
        "int64_t ksearch_inline_call(int64_t args, int64_t stream);\n"
        "int64_t ksearch_inline_scratch(int64_t args);\n"
    )
    functions = ["ksearch_inline_call", "ksearch_inline_scratch"]
    if on_gpu:
        major, minor = torch.cuda.get_device_capability()
        target = f"{major}{minor}{'a' if major >= 9 else ''}"
        # torch takes arithmetic of these types away.
        taken = ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS")
        library = load_inline(
            name="@NAME@",
            cpp_sources=declared,
            cuda_sources=_KSEARCH_SOURCE,
            functions=functions,
            extra_cuda_cflags=[
                "-O3",
                "-std=c++20",
                f"-gencode=arch=compute_{target},code=sm_{target}",
                *(f"-U__CUDA_NO_{what}__" for what in taken),
            ],
        )
    else:
        library = load_inline(
            name="@NAME@",
            cpp_sources=_KSEARCH_SOURCE,
            functions=functions,
            extra_cflags=["-O3", "-std=c++20"],
        )

    def slot(value):
        if isinstance(value, torch.Tensor):
            return value.data_ptr()
        if isinstance(value, float):
            return struct.unpack("<q", struct.pack("<d", value))[0]
        return int(value)

    def program(axes, inputs, outputs):
        words = [*axes, *(slot(x) for x in inputs), *(x.data_ptr() for x in outputs)]
        # Then the scratch memory, of as many bytes as the program asks for.
        arguments = (ctypes.c_int64 * (len(words) + 2))(*words, 0, 0)
        address = ctypes.addressof(arguments)
        bytes_needed = library.ksearch_inline_scratch(address)
        scratch = torch.empty(max(bytes_needed, 0), dtype=torch.uint8, device=outputs[0].device)
        if bytes_needed > 0:
            arguments[len(words)] = scratch.data_ptr()
            arguments[len(words) + 1] = bytes_needed
        stream = torch.cuda.current_stream().cuda_stream if on_gpu else 0
        code = library.ksearch_inline_call(address, stream)
        if code != 0:
            raise RuntimeError(f"ksearch_run returned {code}")
        return outputs

    return program

