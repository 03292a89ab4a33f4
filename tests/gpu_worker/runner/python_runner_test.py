"""Calls of ksearch_runner.py on a device, with a stand-in for torch.cuda: python_runner_test.py SCRIPT

Skipped (status 77) where torch is missing.
"""

import contextlib
import ctypes
import importlib.util
import os
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

STREAM = 0x7000


class FakeCuda:
    """Records the calls it gets, in order."""

    def __init__(self):
        self.log = []
        self.capturing = False

    def init(self):
        self.log.append("init")

    def MemPool(self):
        return "pool"

    def ExternalStream(self, handle, device):
        self.log.append(f"stream {handle:#x} of {device}")
        return handle

    def default_stream(self):
        return 0

    def set_stream(self, stream):
        self.log.append(f"current {stream:#x}")

    def is_current_stream_capturing(self):
        return self.capturing

    @contextlib.contextmanager
    def use_mem_pool(self, pool):
        self.log.append(f"into {pool}")
        yield
        self.log.append(f"out of {pool}")


class FakeTorch:
    """torch, except for its devices."""

    def __init__(self):
        self.cuda = FakeCuda()

    def __getattr__(self, name):
        return getattr(torch, name)


def load_runner():
    spec = importlib.util.spec_from_file_location("ksearch_runner", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class OnMemoryOfThisProcess:
    """A device whose tensors are in host memory, although their capsules name the device."""

    def __init__(self, gpu, runner):
        self.run = gpu.run
        self.tensors = runner.tensors.DL_CPU


class NamedDevice:
    """A device that counts how often it was asked to give back memory."""

    def __init__(self, name):
        self.name = name
        self.forgotten = 0

    def forget(self):
        self.forgotten += 1


class PythonRunnerTest(unittest.TestCase):
    def setUp(self):
        self.module = load_runner()
        self.torch = FakeTorch()
        self.gpu = self.module.devices.Gpu(self.torch)
        self.marks = []
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def runner(self, text, compiled=False):
        path = os.path.join(self.folder.name, "program.py")
        with open(path, "w") as file:
            file.write(text)
        device = OnMemoryOfThisProcess(self.gpu, self.module)
        runner = self.module.Runner(self.torch, device, compiled, self.marks.append)
        self.assertEqual(runner.callbacks.load(path.encode(), b""), 0, runner._raised.value)
        return runner

    def set_up(self, runner, memory, dtype=b"float32"):
        shape = (ctypes.c_int64 * 1)(memory[0].numel())
        arguments = (self.module.Argument * len(memory))()
        for i, argument in enumerate(arguments):
            argument.name = b"xyz"[i : i + 1]
            argument.dtype = dtype
            argument.shape = shape
            argument.dimensions = 1
            argument.output = int(i == len(memory) - 1)
        addresses = (ctypes.c_uint64 * len(memory))(*(one.data_ptr() for one in memory))
        self.assertEqual(
            runner.callbacks.setup(arguments, len(memory), 1, addresses), 0, runner._raised.value
        )

    def test_a_call_is_made_on_the_stream_that_it_is_given(self):
        runner = self.runner("def run(x, y):\n  y.copy_(x * 2)\n")
        x, y = torch.arange(4.0), torch.zeros(4)
        self.set_up(runner, [x, y])
        for _ in range(2):
            self.assertEqual(runner.callbacks.call(0, STREAM), 0)
        self.assertEqual(y.tolist(), [0.0, 2.0, 4.0, 6.0])
        self.assertEqual(
            self.torch.cuda.log,
            ["init", "stream 0x7000 of 0", "current 0x7000", "current 0x7000"],
        )

    def test_a_parameter_with_a_default_is_no_output(self):
        runner = self.runner("def run(x, eps=1.0):\n  return x + eps\n")
        x, y = torch.arange(2.0), torch.zeros(2)
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.returns(), 1)
        self.assertEqual(runner.callbacks.call(0, STREAM), 0, runner._raised.value)
        self.assertEqual(y.tolist(), [1.0, 2.0])
        runner = self.runner("def run(x, eps=1.0, *, scale=3.0):\n  return (x + eps) * scale\n")
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.returns(), 1)
        self.assertEqual(runner.callbacks.call(0, STREAM), 0, runner._raised.value)
        self.assertEqual(y.tolist(), [3.0, 6.0])
        # Many arguments may be outputs.
        runner = self.runner("def run(*given):\n  given[1].copy_(given[0] * 2)\n")
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.call(0, STREAM), 0, runner._raised.value)
        self.assertEqual(y.tolist(), [0.0, 2.0])

    def test_an_exported_program_gets_outputs_where_the_runner_gives_it_outputs(self):
        script = os.path.join(SCRIPT, "../../../../coordinator/suites/python/python_program.py")
        with open(os.path.normpath(script)) as file:
            added = file.read()
        writes = "  y.copy_(x * 2)\n"
        returns = "  return x * 2\n"
        for text in (
            "def run(x, y):\n" + writes,
            "def run(x, y, *, scale=2):\n" + writes,
            "def run(x):\n" + returns,
            "def run(x, eps=1.0):\n" + returns,
            "def run(x, *, scale=2):\n" + returns,
            "def run(x, eps=1.0, *, scale=2):\n" + returns,
            "def run(*given):\n  given[1].copy_(given[0] * 2)\n",
        ):
            x, y = torch.arange(2.0), torch.zeros(2)
            runner = self.runner(text)
            self.set_up(runner, [x, y])
            self.assertEqual(runner.callbacks.call(0, STREAM), 0, runner._raised.value)
            self.assertEqual(y.tolist(), [0.0, 2.0], text)
            names = {}
            exec(text + added, names)
            out = torch.zeros(2)
            results = names["_ksearch_program"]()([], [x], [out])
            self.assertEqual([one.tolist() for one in results], [[0.0, 2.0]], text)
            self.assertEqual(results[0] is out, runner.callbacks.returns() == 0, text)

    def test_extensions_from_text_are_imported_where_nothing_can_be_written(self):
        import torch.utils.cpp_extension as extensions

        saved = extensions._jit_compile, extensions._import_module_from_library
        try:
            with tempfile.TemporaryDirectory() as folder:
                given = dict(name="e", cpp_sources="int f() { return 1; }", build_directory=folder)
                extensions._jit_compile = lambda *values, **named: None
                extensions.load_inline(**given)
                source = os.path.join(folder, "main.cpp")
                os.utime(source, (1, 1))
                extensions._jit_compile = saved[0]
                extensions._import_module_from_library = lambda *values: "the library"
                self.module.compilers.import_built_extensions()
                self.assertEqual(extensions.load_inline(**given), "the library")
                self.assertEqual(os.stat(source).st_mtime, 1)
        finally:
            extensions._jit_compile, extensions._import_module_from_library = saved
            vars(extensions).pop("open", None)

    def test_a_suites_clock_calls_on_the_default_stream(self):
        runner = self.runner("def run(x, y):\n  y.copy_(x * 2)\n")
        x, y = torch.arange(4.0), torch.zeros(4)
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.timed(0, self.module.devices.LEGACY_STREAM, 0), 0)
        self.assertEqual(runner.callbacks.call(0, STREAM), 0)
        self.assertEqual(
            self.torch.cuda.log, ["init", "current 0x0", "stream 0x7000 of 0", "current 0x7000"]
        )

    def test_what_a_recorded_call_allocates_is_of_a_pool_of_its_own(self):
        runner = self.runner("def run(x):\n  return x + 1\n")
        x, y = torch.arange(4.0), torch.zeros(4)
        self.set_up(runner, [x, y])
        self.torch.cuda.capturing = True
        self.assertEqual(runner.callbacks.call(0, STREAM), 0)
        self.assertEqual(y.tolist(), [1.0, 2.0, 3.0, 4.0])
        self.assertEqual(self.torch.cuda.log[-2:], ["into pool", "out of pool"])

    def test_tensors_of_a_device_say_so_to_torch(self):
        tensors = self.module.tensors.Tensors(self.torch, self.gpu.tensors)
        memory = (ctypes.c_float * 4)()
        seen = []

        class Dlpack:
            @staticmethod
            def from_dlpack(capsule):
                get = ctypes.pythonapi.PyCapsule_GetPointer
                get.restype = ctypes.c_void_p
                get.argtypes = [ctypes.py_object, ctypes.c_char_p]
                at = get(capsule, b"dltensor")
                managed = ctypes.cast(at, ctypes.POINTER(self.module.tensors.DLManagedTensor))[0]
                seen.append((managed.tensor.device_type, managed.tensor.device_id))
                return torch.zeros(4, dtype=torch.int32)

        self.torch.utils = type("Utils", (), {"dlpack": Dlpack})
        tensors.over(ctypes.addressof(memory), "float32", [4])
        self.assertEqual(seen, [(2, 0)])  # kDLCUDA, the one device

    def test_tensors_of_fp8_are_of_that_dtype(self):
        tensors = self.module.tensors.Tensors(torch, self.module.tensors.DL_CPU)
        memory = (ctypes.c_uint8 * 6)(0x38, 0xC0, 0, 0x38, 0xC0, 0)
        for name, values in (("float8_e4m3fn", [1.0, -2.0, 0.0]), ("float8_e5m2", [0.5, -2.0, 0.0])):
            if not hasattr(torch, name):
                self.skipTest(f"torch {torch.__version__} has no {name}")
            tensor = tensors.over(ctypes.addressof(memory), name, [2, 3])
            self.assertEqual(tensor.dtype, getattr(torch, name))
            self.assertEqual(tensor.data_ptr(), ctypes.addressof(memory))
            self.assertEqual(tensor.float().tolist(), [values, values])

    def test_what_is_returned_is_kept_then_copied_where_only_the_copy_is_timed(self):
        runner = self.runner("calls = 0\ndef run(x):\n  global calls\n  calls += 1\n  return x + calls\n")
        x, y = torch.zeros(4), torch.zeros(4)
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.returns(), 1)
        for result in (1.0, 2.0):
            before = y.tolist()
            self.assertEqual(runner.callbacks.copy(0, STREAM), 0)
            self.assertEqual(y.tolist(), before)
            self.assertEqual(runner.callbacks.copy(0, STREAM), 0)
            self.assertEqual(y.tolist(), [result] * 4)
        writes = self.runner("def run(x, y):\n  y.copy_(x)\n")
        self.set_up(writes, [x, y])
        self.assertEqual(writes.callbacks.returns(), 0)

    def test_the_programs_own_work_lies_between_marks_where_a_suite_times_it(self):
        for text in ("def run(x):\n  return x + 1\n", "def run(x, y):\n  y.copy_(x + 1)\n"):
            runner = self.runner(text)
            x, y = torch.zeros(4), torch.zeros(4)
            self.set_up(runner, [x, y])
            self.marks.clear()
            self.assertEqual(runner.callbacks.timed(0, STREAM, 0), 0)
            self.assertEqual(self.marks, [0, 1])
            if runner.callbacks.returns():
                self.assertEqual(runner.callbacks.copy(0, STREAM), 0)
            self.assertEqual(y.tolist(), [1.0] * 4)
        failing = self.runner("def run(x):\n  raise ValueError('no')\n")
        self.set_up(failing, [torch.zeros(4), torch.zeros(4)])
        self.marks.clear()
        self.assertEqual(failing.callbacks.timed(0, STREAM, 0), 1)
        self.assertEqual(self.marks, [0])
        self.assertIn(b"ValueError: no", failing._raised.value)

    def test_what_a_form_builds_around_a_call_is_kept_while_the_call_is_repeated(self):
        runner = self.runner(
            "built = 0\n"
            "def prepare(x):\n"
            "  global built\n"
            "  built += 1\n"
            "  data = {'x': x}\n"
            "  return (lambda: own(data)), (lambda result: result[0])\n"
            "def own(data):\n"
            "  data['calls'] = data.get('calls', 0) + 1\n"
            "  return [data['x'] + 10 * built + data['calls']]\n"
            "def run(x):\n"
            "  return x\n"
            "run.prepare = prepare\n"
        )
        x, y = torch.zeros(4), torch.zeros(4)
        self.set_up(runner, [x, y])
        for repeated, result in ((1, 11.0), (1, 12.0), (0, 21.0), (1, 22.0)):
            self.assertEqual(runner.callbacks.timed(0, STREAM, repeated), 0, runner._raised.value)
            self.assertEqual(runner.callbacks.copy(0, STREAM), 0)
            self.assertEqual(y.tolist(), [result] * 4)
        self.set_up(runner, [x, y])
        self.assertEqual(runner.callbacks.timed(0, STREAM, 1), 0)
        self.assertEqual(runner.callbacks.copy(0, STREAM), 0)
        self.assertEqual(y.tolist(), [31.0] * 4)

    def test_a_wish_to_compile_is_told_as_such_where_nothing_can_be(self):
        text = "import errno\ndef run(x, y):\n  raise OSError(errno.EROFS, 'no')\n"
        for compiled, says in ((True, b"NotCompiledError: "), (False, b"OSError: ")):
            runner = self.runner(text, compiled)
            self.set_up(runner, [torch.zeros(4), torch.zeros(4)])
            self.assertEqual(runner.callbacks.call(0, STREAM), 1)
            raised = runner._raised.value
            self.assertIn(b'File "program.py", line 3, in run', raised)
            self.assertIn(says, raised.split(b"\n")[-1])

    def test_a_traceback_ends_with_the_programs_own_line(self):
        runner = self.runner("import json\ndef run(x, y):\n  json.loads('{')\n")
        self.set_up(runner, [torch.zeros(4), torch.zeros(4)])
        self.assertEqual(runner.callbacks.call(0, STREAM), 1)
        self.assertNotIn(b"decoder.py", runner._raised.value)
        self.assertIn(b"line 3, in run", runner._raised.value)

    def test_a_traceback_has_no_line_of_code_that_was_added_to_a_program(self):
        added = "def run(x, y):\n  own(x).copy_(x)\n_ksearch_added_from = run\n"
        for own, shown in (("x[9]", b", line 2, in own"), ("3", b"AttributeError")):
            runner = self.runner("def own(x):\n  return " + own + "\n\n" + added)
            self.set_up(runner, [torch.arange(2.0), torch.zeros(2)])
            self.assertEqual(runner.callbacks.call(0, STREAM), 1)
            self.assertIn(shown, runner._raised.value)
            self.assertNotIn(b", line 5", runner._raised.value[-60:])
        self.assertTrue(runner._raised.value.startswith(b"AttributeError"), runner._raised.value)

    def test_inputs_are_made_on_the_device_where_that_can_be_done(self):
        text = (
            "import torch\n"
            "tried = []\n"
            "def make_inputs(seed, n):\n"
            "  tried.append(torch.empty(0).device.type)\n"
            "  if OnlyProcessors and tried[-1] == 'meta':\n"
            "    raise RuntimeError('a generator of another device')\n"
            "  if seed == 9:\n"
            "    raise RuntimeError('out of memory')\n"
            "  return {'a': torch.rand(n, device='cpu')}\n"
        )
        for only_processors in (False, True):
            program = {"OnlyProcessors": only_processors}
            exec(text, program)
            device = NamedDevice("meta")
            maker = self.module.input_maker.InputMaker(torch, program["make_inputs"], "reference.py", device)
            a = torch.zeros(3)
            for seed in (7, 8):
                maker.call(["seed", "axis:n", "a"], [torch.tensor([seed]), 3, a])
                torch.manual_seed(seed)
                self.assertEqual(a.tolist(), torch.rand(3).tolist())
            self.assertEqual(device.forgotten, 2)
            with self.assertRaisesRegex(RuntimeError, "out of memory"):
                maker.call(["seed", "axis:n", "a"], [torch.tensor([9]), 3, a])
            if not hasattr(torch.device, "__enter__"):
                self.assertEqual(program["tried"], ["cpu"] * 3)
            elif only_processors:
                self.assertEqual(program["tried"], ["meta", "cpu", "cpu", "cpu"])
            else:
                self.assertEqual(program["tried"], ["meta"] * 3)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    unittest.main()
