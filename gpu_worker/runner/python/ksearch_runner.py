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
the first of the verdict's int8 elements becomes 1 if they are, else 2, and why follows in ASCII; or 3 if it
compares a NaN or an infinity that comes of them, which says nothing.
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

import ctypes
import functools
import importlib.util
import inspect
import os
import sys
import tempfile
import traceback

# With -I, Python does not look beside this file. Last, and only for this: its names hide nothing.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from ksearch_runner_modules import compilers, devices, input_maker, returning_call, tensors
from ksearch_runner_modules.returning_call import ENTRY

sys.path.pop()

RAISED_BYTES = 2048
OWN_FILES = {
    __file__,
    *(each.__file__ for each in (compilers, devices, input_maker, returning_call, tensors)),
}


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


def takes(signature, count):
    """Whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def has_defaults_behind(signature, count):
    """Whether all parameters from this number on have defaults, as in run(x, eps=1e-5, *, scale=2): a function
    may take outputs there, but means none.
    """
    behind = list(signature.parameters.values())[count:]
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )
    return bool(behind) and all(p.kind in kinds and p.default is not p.empty for p in behind)


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
    return path in OWN_FILES or path.startswith("<frozen importlib")


def is_added(frames):
    """Whether a frame is in code that a suite added behind a program, whose lines its author does not know. The
    code itself says where it begins: with a line, or a function.
    """
    added = frames.tb_frame.f_globals.get("_ksearch_added_from")
    line = getattr(getattr(added, "__code__", None), "co_firstlineno", added)
    return isinstance(line, int) and frames.tb_lineno >= line


def of_program_alone(frames, folder):
    """The frames up to the last one of the program in `folder`, without those of libraries behind it and of
    code that was added to it. None if the program has none of them, but code that was added to it has.
    """
    last, at, added = None, frames, False
    while at is not None:
        if at.tb_frame.f_code.co_filename.startswith(folder + os.sep):
            if is_added(at):
                added = True
            else:
                last = at
        at = at.tb_next
    if last is not None:
        last.tb_next = None
    elif added:
        return None
    return frames


class Runner:
    """`device`: where calls run. `compiled`: whether there are caches that the warm stage filled,
    and nothing else can be compiled. `mark`: ksearch_python_mark."""

    def __init__(self, torch, device, compiled, mark):
        self._torch = torch
        self._device = device
        self._compiled = compiled
        self._tensors = tensors.Tensors(torch, device.tensors)
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
                frames = of_program_alone(frames, self._folder)
            if self._compiled and compilers.wants_compiler(error):
                error = compilers.NotCompiledError(
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
            compilers.import_built_extensions()
        sys.path.insert(0, self._folder)
        name = os.path.splitext(self._file)[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        if entry == input_maker.MAKE_INPUTS:
            self._maker = input_maker.InputMaker(
                self._torch, getattr(module, input_maker.MAKE_INPUTS), self._file, self._device
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
        writes = takes(signature, count) and not has_defaults_behind(signature, len(inputs))
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
                    returning_call.ReturningCall(
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
        return int(bool(self._calls) and isinstance(self._calls[0], returning_call.ReturningCall))

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
    # While files can be written: this looks for a folder where they can, and torch wants a folder there when
    # a program asks for deterministic algorithms.
    caches = os.path.join(tempfile.gettempdir(), f"torchinductor_{os.environ.get('USER', '')}")
    os.makedirs(caches, exist_ok=True)
    compiles = any(name in os.environ for name in compilers.CACHES)
    inductor = not has_gpu and "TORCHINDUCTOR_CACHE_DIR" in os.environ
    # Keeps the interpreter's lock while it runs.
    library = ctypes.PyDLL(sys.argv[1])
    try:
        if has_gpu and compiles:
            compilers.import_triton()
        if "--in-advance" in sys.argv[2:] and library.ksearch_python_await() != 0:
            return 0  # the process is no longer needed
        device = devices.Gpu(torch) if has_gpu else devices.Processors()
        if has_gpu and compiles:
            compilers.start_triton()
        if inductor:
            compilers.start_inductor()
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
        compilers.drop_file_locks()
    library.ksearch_python_mark.argtypes = [ctypes.c_int32]
    library.ksearch_python_mark.restype = None
    runner = Runner(torch, device, compiled, library.ksearch_python_mark)
    return library.ksearch_python_run(
        len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(runner.callbacks)
    )


if __name__ == "__main__":
    sys.exit(main())
