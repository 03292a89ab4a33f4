"""python3 -I -B ksearch_runner.py LIBRARY [--gpu=UUID] [--instrumented] [--warm] [--in-advance]:
the runner of a program in Python.

Imports torch, then hands this process to ksearch's own code in LIBRARY, which is
libksearch_python_runner.so: it keeps the dialogue with the verifier, the clock and the filter of
system calls, and calls back here to load, set up and call the program. Nothing here is trusted once
the program is loaded: it shares the interpreter. python_interface.h is the other side of the
structures below.

A program's file defines `run` in one of two forms:
  def run(inputs..., outputs...)  writes every output; what it returns is not looked at
  def run(inputs...)              returns the outputs, which are copied into their place in the call
A task's own file may define make_inputs(seed, **axes) besides, which is called in a process of its
own: it returns the inputs for these axes, as a dict by name or in the order of the definition. And it
may define judge_outputs(inputs..., outputs..., verdict), likewise, which says whether outputs are right:
the first of the verdict's int8 elements becomes 1 if they are, else 2, and why follows in ASCII.
Arguments come by position, in the order of the definition: torch tensors over the verifier's
memory, Python numbers for scalars.

With --gpu, the tensors are CUDA tensors of the one device there is, and a call's work goes to the
stream that the library names, which is torch's current one within the call. The program compiles
(Triton, torch.compile, torch.utils.cpp_extension, tvm_ffi) in a separate process, --warm, whose
caches the others read: they cannot start a compiler. The environment names the folders of these
caches; if it names none, nothing is compiled.

With --in-advance, the process imports what it can and then waits until it is wanted: until then it
has not touched the device, and the program's folder is empty.
"""

import contextlib
import ctypes
import errno
import functools
import importlib.util
import inspect
import os
import platform
import random
import sys
import tempfile
import traceback

ENTRY = "run"
MAKE_INPUTS = "make_inputs"
AXIS = "axis:"  # what names of axes begin with, among the arguments of make_inputs
RAISED_BYTES = 2048
# Environment variables that name the folders of compiled code.
CACHES = (
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TVM_FFI_CACHE_DIR",
    "TILELANG_CACHE_DIR",
)


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


LOAD = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
SETUP = ctypes.PYFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(Argument),
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_uint64),
)
# CU_STREAM_LEGACY of cuda.h, which names the default stream.
LEGACY_STREAM = 1
CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)
TIMED = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32)
RETURNS = ctypes.PYFUNCTYPE(ctypes.c_int)


class Callbacks(ctypes.Structure):
    _fields_ = [
        ("load", LOAD),
        ("setup", SETUP),
        ("call", CALL),
        ("returns", RETURNS),
        ("copy", CALL),
        ("timed", TIMED),
        ("raised", ctypes.c_void_p),
    ]


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
DL_CUDA = 2
DL_INT = 0
DL_UINT = 1
CAPSULE_NAME = b"dltensor"  # a capsule keeps the pointer

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensors:
    """Makes torch tensors over memory that is not torch's, without a copy."""

    def __init__(self, torch, device_type):
        self._torch = torch
        self._device_type = device_type
        # Kept forever: a program may keep a tensor longer than its workload, and freeing it reads this.
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
        managed.tensor.device_type = self._device_type
        managed.tensor.ndim = len(shape)
        managed.tensor.type_code = DL_UINT if width == 1 else DL_INT
        managed.tensor.type_bits = 8 * width
        managed.tensor.type_lanes = 1
        managed.tensor.shape = extents
        self._kept.append((managed, extents))
        capsule = make_capsule(ctypes.addressof(managed), CAPSULE_NAME, None)
        return self._torch.utils.dlpack.from_dlpack(capsule).view(dtype)


class Processors:
    """Where calls run without --gpu."""

    tensors = DL_CPU
    name = "cpu"

    def forget(self):
        pass

    def run(self, call, stream):
        call()


class Gpu:
    """The one device of a runner that has one."""

    tensors = DL_CUDA
    name = "cuda"

    def __init__(self, torch):
        self._cuda = torch.cuda
        self._streams = {LEGACY_STREAM: torch.cuda.default_stream()}
        torch.cuda.init()
        # Holds what calls allocate while they are recorded: replays write there for as long as this
        # process lives, so nothing else may ever lie in it.
        self._pool = torch.cuda.MemPool() if hasattr(torch.cuda, "MemPool") else None

    def run(self, call, stream):
        """One call, with its work on `stream`, a CUstream."""
        if stream not in self._streams:
            self._streams[stream] = self._cuda.ExternalStream(stream, device=0)
        # Set every time: the last call may have left another stream.
        self._cuda.set_stream(self._streams[stream])
        with self._recording():
            call()

    def forget(self):
        """Gives back memory that torch keeps for later."""
        self._cuda.empty_cache()

    def _recording(self):
        if self._pool is None or not self._cuda.is_current_stream_capturing():
            return contextlib.nullcontext()
        return self._cuda.use_mem_pool(self._pool)


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


def takes(signature, count):
    """Whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def kind_of(tensor):
    return f"shape {tuple(tensor.shape)} and dtype {tensor.dtype}"


def check_returned(torch, entry, file, name, value, wanted, otherwise):
    """Raises unless `value`, returned by `entry` for `name`, is a tensor like `wanted`."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{entry} in {file} returned a value of type {type(value).__name__} for '{name}': "
            f"return a tensor of {kind_of(wanted)}"
        )
    if value.shape != wanted.shape or value.dtype != wanted.dtype:
        raise TypeError(
            f"{entry} in {file} returned a tensor of {kind_of(value)} for '{name}': "
            f"{otherwise} {kind_of(wanted)}"
        )


class ReturningCall:
    """A call of a program that returns its outputs; `file` is its name in messages. `args`: the
    program's arguments, as in functools.partial."""

    def __init__(self, torch, run, file, inputs, outputs, names):
        self._torch = torch
        self._run = run
        self._file = file
        self.args = inputs
        self._outputs = outputs
        self._names = names
        self._kept = None

    def __call__(self):
        self._copy(self._checked(self._run(*self.args)))

    def copy(self):
        """Alternates between making results and keeping them, and copying and dropping them."""
        if self._kept is None:
            self.keep(self._run(*self.args))
        else:
            kept, self._kept = self._kept, None
            self._copy(kept)

    def _copy(self, results):
        for result, output in zip(results, self._outputs):
            output.copy_(result)

    def keep(self, results):
        """Keeps what the program returned, for `copy`."""
        self._kept = self._checked(results)

    def _checked(self, results):
        if not isinstance(results, (tuple, list)):
            results = (results,)
        if len(results) != len(self._outputs):
            raise TypeError(
                f"{ENTRY} in {self._file} returned {len(results)} values: "
                f"return one tensor for each output, in this order: {', '.join(self._names)}"
            )
        for name, result, output in zip(self._names, results, self._outputs):
            check_returned(
                self._torch, ENTRY, self._file, name, result, output, "return one of"
            )
        return results


class InputMaker:
    """Calls of make_inputs; `file` is its name in messages.

    What it makes without naming a device is made on the task's, since that may take a hundredth of the
    time. Where the first call on a workload fails so, as with a generator of random numbers of another
    device, its inputs are made on processors. The distributions are the same, the numbers are not.
    """

    def __init__(self, torch, make, file, device):
        self._torch = torch
        self._make = make
        self._file = file
        self._device = device
        # torch 1 has no default device.
        self._usual = device.name if hasattr(torch.device, "__enter__") else None
        # By axes: whether it can be done there. Another place gives other numbers for the same seed.
        self._there = {}
        taken = inspect.signature(make).parameters.values()
        self._takes_all = any(p.kind == p.VAR_KEYWORD for p in taken)
        self._taken = [p.name for p in taken]

    def call(self, names, values):
        """One call on arguments as python_interface.h orders them."""
        axes, scalars, tensors = {}, {}, {}
        for name, value in zip(names[1:], values[1:]):
            if name.startswith(AXIS):
                axes[name[len(AXIS) :]] = value
            else:
                (tensors if isinstance(value, self._torch.Tensor) else scalars)[name] = value
        if not self._takes_all:
            axes = {name: value for name, value in axes.items() if name in self._taken}
        made = self._made(int(values[0]), axes)
        if not isinstance(made, dict):
            made = made if isinstance(made, (tuple, list)) else (made,)
            if len(made) != len(tensors) or scalars:
                raise TypeError(
                    f"{MAKE_INPUTS} in {self._file} returned {len(made)} values: return a dict "
                    f"with these inputs: {', '.join([*tensors, *scalars])}"
                )
            made = dict(zip(tensors, made))
        for name, value in scalars.items():
            given = made.get(name, value)
            if abs(given - value) > 1e-6 * abs(value):
                raise ValueError(
                    f"{MAKE_INPUTS} in {self._file} returned {given} for '{name}', but the "
                    f"workload has {value}: numbers stay as the workload has them"
                )
        for name, tensor in tensors.items():
            value = made.get(name)
            check_returned(
                self._torch, MAKE_INPUTS, self._file, name, value, tensor, "the definition says"
            )
            tensor.copy_(value)
        # Others need the room.
        made = value = None
        self._device.forget()

    def _made(self, seed, axes):
        workload = tuple(axes.items())
        if self._usual is not None and self._there.get(workload, True):
            try:
                self._begin(seed)
                with self._torch.device(self._usual):
                    made = self._make(seed, **axes)
                self._there[workload] = True
                return made
            except Exception:
                if workload in self._there:
                    raise
                self._there[workload] = False
        self._begin(seed)
        return self._make(seed, **axes)

    def _begin(self, seed):
        """Sets the global generators."""
        random.seed(seed)
        self._torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)


def mentions(path, word):
    """Whether any file of the program whose main file is `path` has this word."""
    for folder, _, files in os.walk(os.path.dirname(path)):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    if word in file.read():
                        return True
    return False


def is_ours(path):
    """Whether code between here and the program is in this file."""
    return path == __file__ or path.startswith("<frozen importlib")


def without_library_frames(frames, folder):
    """Drops the frames of libraries behind the last one of the program in `folder`."""
    last, at = None, frames
    while at is not None:
        if at.tb_frame.f_code.co_filename.startswith(folder + os.sep):
            last = at
        at = at.tb_next
    if last is not None:
        last.tb_next = None


class Runner:
    """`device`: where calls run. `compiled`: whether there are caches that the warm stage filled,
    and nothing else can be compiled. `mark`: ksearch_python_mark."""

    def __init__(self, torch, device, compiled, mark):
        self._torch = torch
        self._device = device
        self._compiled = compiled
        self._tensors = Tensors(torch, device.tensors)
        self._raised = ctypes.create_string_buffer(RAISED_BYTES)
        self._run = None
        self._maker = None
        self._folder = None
        self._file = ""
        self._calls = []
        self._mark = mark
        self._prepared = None
        # The library keeps no Python objects: these must live as long as it runs.
        self.callbacks = Callbacks(
            LOAD(self._guard(self._load)),
            SETUP(self._guard(self._setup)),
            CALL(self._call),
            RETURNS(self._returns),
            CALL(self._copy),
            TIMED(self._timed),
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
            if self._folder:
                without_library_frames(frames, self._folder)
            if self._compiled and wants_compiler(error):
                error = NotCompiledError(
                    "the call wants to compile something that was not compiled before: the warm "
                    "stage makes a call for each workload, and compiles what that needs"
                )
            lines = traceback.format_exception(type(error), error, frames)
            text = "".join(lines).strip()
            if self._folder:
                text = text.replace(f'File "{self._folder}/', 'File "')
            text = text.encode("ascii", "replace").replace(b"\0", b"?")
            self._raised.value = text[-(RAISED_BYTES - 1) :]
        except BaseException:  # from the exception's own __str__
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

    def _load(self, path, entry):
        path, entry = os.fsdecode(path), entry.decode() or ENTRY
        self._folder, self._file = os.path.split(path)
        if self._compiled and mentions(path, b"cpp_extension"):
            import_built_extensions()
        sys.path.insert(0, self._folder)
        name = os.path.splitext(self._file)[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        if entry == MAKE_INPUTS:
            self._maker = InputMaker(
                self._torch, getattr(module, MAKE_INPUTS), self._file, self._device
            )
            return
        self._run = getattr(module, entry, None)
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
        if self._maker is not None:
            values = [
                self._value(argument, addresses[i]) for i, argument in enumerate(arguments)
            ]
            self._calls = [functools.partial(self._maker.call, names, values)]
            return
        signature = inspect.signature(self._run)
        writes = takes(signature, count)
        if not writes and not takes(signature, len(inputs)):
            raise TypeError(
                f"{ENTRY}{signature} in {self._file} takes neither {', '.join(names)} "
                f"nor {', '.join(names[i] for i in inputs)} alone"
            )
        calls = []
        self._prepared = None
        for index in range(sets):
            values = [
                self._value(argument, addresses[index * count + i])
                for i, argument in enumerate(arguments)
            ]
            if writes:
                calls.append(functools.partial(self._run, *values))
            else:
                calls.append(
                    ReturningCall(
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

    def _returns(self):
        return int(bool(self._calls) and isinstance(self._calls[0], ReturningCall))

    def _call(self, index, stream):
        try:
            self._device.run(self._calls[index], stream)
            return 0
        except BaseException as error:  # SystemExit too
            return self._report(error)

    def _timed(self, index, stream, repeated):
        try:
            self._device.run(functools.partial(self._call_between_marks, index, repeated), stream)
            return 0
        except BaseException as error:
            return self._report(error)

    def _call_between_marks(self, index, repeated):
        if not repeated or self._prepared is None:
            self._prepared = None  # what it holds is no longer needed
            self._prepared = self._prepare(index)
        call, take = self._prepared
        self._mark(0)
        results = call()
        self._mark(1)
        take(results)

    def _prepare(self, index):
        """The program's own work of a call, and what takes its results.

        A form that stands around the program's own function, as those of suites do, says by its
        attribute `prepare` what that function's call is, so that nothing else is timed.
        """
        call = self._calls[index]
        values = call.args  # a partial function, or a ReturningCall
        keep = call.keep if self._returns() else lambda results: None
        prepare = getattr(self._run, "prepare", None)
        if prepare is None:
            return functools.partial(self._run, *values), keep
        own, take = prepare(*values)
        return own, lambda results: keep(take(results))

    def _copy(self, index, stream):
        try:
            self._device.run(self._calls[index].copy, stream)
            return 0
        except BaseException as error:
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
    has_gpu = any(word.startswith("--gpu=") for word in sys.argv[2:])
    if not has_gpu and "TORCH_EXTENSIONS_DIR" in os.environ:
        # Importing this fails in some versions of torch if programs cannot be started.
        import torch.utils.cpp_extension
    tempfile.gettempdir()  # looks for a writable folder, while there still is one
    compiles = any(name in os.environ for name in CACHES)
    inductor = not has_gpu and "TORCHINDUCTOR_CACHE_DIR" in os.environ
    # Keeps the interpreter's lock while it runs.
    library = ctypes.PyDLL(sys.argv[1])
    try:
        if has_gpu and compiles:
            import_triton()
        if "--in-advance" in sys.argv[2:] and library.ksearch_python_await() != 0:
            return 0  # the process is no longer needed
        device = Gpu(torch) if has_gpu else Processors()
        if has_gpu and compiles:
            start_triton()
        if inductor:
            start_inductor()
    except Exception as error:  # of many kinds, but never the program's
        sys.exit(
            f"{sys.executable} (torch {torch.__version__}) cannot "
            f"{'use the GPU' if has_gpu else 'compile'}: {type(error).__name__}: {error}"
        )
    library.ksearch_python_run.argtypes = [
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(Callbacks),
    ]
    words = [os.fsencode(word) for word in sys.argv[1:]]
    compiled = compiles and "--warm" not in sys.argv[2:]
    if compiled and inductor:
        drop_file_locks()
    library.ksearch_python_mark.argtypes = [ctypes.c_int32]
    library.ksearch_python_mark.restype = None
    runner = Runner(torch, device, compiled, library.ksearch_python_mark)
    return library.ksearch_python_run(
        len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(runner.callbacks)
    )


if __name__ == "__main__":
    sys.exit(main())
