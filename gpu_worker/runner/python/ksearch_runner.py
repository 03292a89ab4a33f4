"""python3 -I -B ksearch_runner.py LIBRARY [--instrumented]: the runner of a program in Python.

Imports torch, then hands this process to ksearch's own code in LIBRARY, which is
libksearch_python_runner.so: it keeps the dialogue with the verifier, the clock and the filter of
system calls, and calls back here to load, set up and call the program. Nothing here is trusted once
the program is loaded: it shares the interpreter. python_interface.h is the other side of the
structures below.

A program's file defines `run` in one of two forms:
  def run(inputs..., outputs...)  writes every output; what it returns is not looked at
  def run(inputs...)              returns the outputs, which are copied into their place in the call
Arguments come by position, in the order of the definition: torch tensors over the verifier's
memory, Python numbers for scalars.
"""

import ctypes
import functools
import importlib.util
import inspect
import os
import sys
import traceback

ENTRY = "run"
RAISED_BYTES = 2048


class Argument(ctypes.Structure):
    TENSOR, INTEGER, FLOAT, BOOL = range(4)
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("int_value", ctypes.c_int64),
        ("float_value", ctypes.c_double),
        ("kind", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("output", ctypes.c_int32),
    ]


LOAD = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
SETUP = ctypes.PYFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(Argument),
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_uint64),
)
CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32)


class Callbacks(ctypes.Structure):
    _fields_ = [("load", LOAD), ("setup", SETUP), ("call", CALL), ("raised", ctypes.c_void_p)]


# DLPack's structures, version 0.
class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


DL_CPU = 1
DL_INT = 0
DL_UINT = 1
CAPSULE_NAME = b"dltensor"  # a capsule keeps the pointer

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensors:
    """Makes torch tensors over memory that is not torch's, without a copy."""

    def __init__(self, torch):
        self._torch = torch
        # For ever: a program may keep a tensor longer than its workload, and freeing it reads this.
        self._kept = []

    def over(self, address, dtype_name, shape):
        dtype = getattr(self._torch, dtype_name, None)
        if dtype is None:
            raise TypeError(f"torch {self._torch.__version__} has no dtype {dtype_name}")
        # As integers of the same width: not every torch takes every dtype from a capsule.
        width = self._torch.empty(0, dtype=dtype).element_size()
        managed = DLManagedTensor()
        extents = (ctypes.c_int64 * len(shape))(*shape)
        managed.tensor.data = address
        managed.tensor.device_type = DL_CPU
        managed.tensor.ndim = len(shape)
        managed.tensor.type_code = DL_UINT if width == 1 else DL_INT
        managed.tensor.type_bits = 8 * width
        managed.tensor.type_lanes = 1
        managed.tensor.shape = extents
        self._kept.append((managed, extents))
        capsule = make_capsule(ctypes.addressof(managed), CAPSULE_NAME, None)
        return self._torch.utils.dlpack.from_dlpack(capsule).view(dtype)


def takes(signature, count):
    """Whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def kind_of(tensor):
    return f"shape {tuple(tensor.shape)} and dtype {tensor.dtype}"


def copy_results(torch, run, file, inputs, outputs, names):
    """One call of a program that returns its outputs; `file` is its name in messages."""
    results = run(*inputs)
    if not isinstance(results, (tuple, list)):
        results = (results,)
    if len(results) != len(outputs):
        raise TypeError(
            f"{ENTRY} in {file} returned {len(results)} values: "
            f"return one tensor for each output, in this order: {', '.join(names)}"
        )
    for name, result, output in zip(names, results, outputs):
        if not isinstance(result, torch.Tensor):
            raise TypeError(
                f"{ENTRY} in {file} returned a value of type {type(result).__name__} for '{name}': "
                f"return a tensor of {kind_of(output)}"
            )
        if result.shape != output.shape or result.dtype != output.dtype:
            raise TypeError(
                f"{ENTRY} in {file} returned a tensor of {kind_of(result)} for '{name}': "
                f"return one of {kind_of(output)}"
            )
        output.copy_(result)


def is_ours(path):
    """Whether code between here and the program is in this file."""
    return path == __file__ or path.startswith("<frozen importlib")


class Runner:
    def __init__(self, torch):
        self._torch = torch
        self._tensors = Tensors(torch)
        self._raised = ctypes.create_string_buffer(RAISED_BYTES)
        self._run = None
        self._folder = None
        self._file = ""
        self._calls = []
        # The library keeps no Python objects: these must live as long as it runs.
        self.callbacks = Callbacks(
            LOAD(self._guard(self._load)),
            SETUP(self._guard(self._setup)),
            CALL(self._call),
            ctypes.addressof(self._raised),
        )

    def _report(self, error):
        """Leaves the traceback's end for the library, without the frames up to the program.

        Its files are named without the folder that they lie in on this worker.
        """
        try:
            frames = error.__traceback__
            while frames is not None and is_ours(frames.tb_frame.f_code.co_filename):
                frames = frames.tb_next
            lines = traceback.format_exception(type(error), error, frames)
            text = "".join(lines).strip()
            if self._folder:
                text = text.replace(f'File "{self._folder}/', 'File "')
            text = text.encode("ascii", "replace").replace(b"\0", b"?")
            self._raised.value = text[-(RAISED_BYTES - 1) :]
        except BaseException:  # of the exception's own __str__
            self._raised.value = type(error).__name__.encode("ascii", "replace")[:100]
        return 1

    def _guard(self, function):
        def guarded(*arguments):
            try:
                function(*arguments)
                return 0
            except BaseException as error:  # SystemExit too
                return self._report(error)

        return guarded

    def _load(self, path):
        path = os.fsdecode(path)
        self._folder, self._file = os.path.split(path)
        sys.path.insert(0, self._folder)
        name = os.path.splitext(self._file)[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        self._run = getattr(module, ENTRY, None)
        if not callable(self._run):
            raise AttributeError(
                f"{self._file} defines no function '{ENTRY}': "
                f"define {ENTRY}(inputs..., outputs...), "
                f"or {ENTRY}(inputs...) that returns the outputs"
            )

    def _setup(self, arguments, count, sets, addresses):
        arguments = [arguments[i] for i in range(count)]
        names = [argument.name.decode() for argument in arguments]
        inputs = [i for i in range(count) if not arguments[i].output]
        outputs = [i for i in range(count) if arguments[i].output]
        signature = inspect.signature(self._run)
        writes = takes(signature, count)
        if not writes and not takes(signature, len(inputs)):
            raise TypeError(
                f"{ENTRY}{signature} in {self._file} takes neither {', '.join(names)} "
                f"nor {', '.join(names[i] for i in inputs)} alone"
            )
        calls = []
        for index in range(sets):
            values = [
                self._value(argument, addresses[index * count + i])
                for i, argument in enumerate(arguments)
            ]
            if writes:
                calls.append(functools.partial(self._run, *values))
            else:
                calls.append(
                    functools.partial(
                        copy_results,
                        self._torch,
                        self._run,
                        self._file,
                        [values[i] for i in inputs],
                        [values[i] for i in outputs],
                        [names[i] for i in outputs],
                    )
                )
        self._calls = calls

    def _value(self, argument, address):
        if argument.kind == Argument.TENSOR:
            shape = [argument.shape[i] for i in range(argument.dimensions)]
            return self._tensors.over(address, argument.dtype.decode(), shape)
        if argument.kind == Argument.FLOAT:
            return argument.float_value
        return bool(argument.int_value) if argument.kind == Argument.BOOL else argument.int_value

    def _call(self, index):
        try:
            self._calls[index]()
            return 0
        except BaseException as error:  # SystemExit too
            return self._report(error)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import torch
        import torch.utils.dlpack
    except ImportError as error:
        sys.exit(f"{sys.executable} cannot import torch: {error}")
    torch.set_grad_enabled(False)
    # Keeps the interpreter's lock while it runs.
    library = ctypes.PyDLL(sys.argv[1])
    library.ksearch_python_run.argtypes = [
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(Callbacks),
    ]
    words = [os.fsencode(word) for word in sys.argv[1:]]
    runner = Runner(torch)
    return library.ksearch_python_run(
        len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(runner.callbacks)
    )


if __name__ == "__main__":
    sys.exit(main())
