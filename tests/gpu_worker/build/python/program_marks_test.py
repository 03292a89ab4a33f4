"""program_marks_test.py SOURCE_ROOT: tests what program_marks.py finds, and that it finds nothing in
any honest program of the tree."""

import ast
import glob
import os
import sys
import unittest

ROOT = os.path.abspath(sys.argv.pop())
sys.path.insert(0, os.path.join(ROOT, "gpu_worker", "build", "python"))
import program_marks  # noqa: E402


def marks(text):
    return [f"{kind}: {word}" for _, kind, word in program_marks.marks_of(ast.parse(text))]


class ProgramMarksTest(unittest.TestCase):
    def test_the_first_place_of_each_kind(self):
        text = "x = open('a')\ny = open('b')\nimport gc, ctypes\ngc.get_objects()\n"
        self.assertEqual(program_marks.marks_of(ast.parse(text)), [
            (4, "looks through objects of others", "gc.get_objects"),
            (3, "looks up functions of other libraries", "ctypes"),
            (1, "opens files", "open"),
        ])

    def test_each_kind(self):
        for text, kind in (
            ("import os as o\no.fork()", "starts processes"),
            ("from os import fork as f\nf()", "starts processes"),
            ("import torch\ntorch.os.fork()", "starts processes"),
            ("import torch\ngetattr(torch, 'o' + 's').fork()", "starts processes"),
            ("import socket", "talks to others"),
            ("import signal", "traces, handles signals, system calls"),
            ("import torch\nf = torch.ops.ctypes", "looks up functions of other libraries"),
            ("def f():\n  import ctypes", "looks up functions of other libraries"),
            ("import torch\ntorch.cuda.synchronize = None", "replaces functions of others"),
            ("import torch\ntorch.mm: object = None", "replaces functions of others"),
            ("import torch\nfor torch.mm in [1]: pass", "replaces functions of others"),
            ("from torch import Tensor as T\nT.copy_, x = 1, 2", "replaces functions of others"),
            ("import time\nsetattr(time, 'time', int)", "replaces functions of others"),
            ("import torch\nvars(torch)['mm'] = int", "replaces functions of others"),
            ("import torch\ntorch.library.Library('aten', 'IMPL')", "replaces functions of others"),
            ("import sys\nsys.modules['x'] = 1", "looks through objects of others"),
            ("f.__globals__", "looks through objects of others"),
            ("eval('1')", "runs text as code"),
            ("__import__('os')", "runs text as code"),
            ("import atexit", "runs outside of its calls"),
            ("import torch\ntorch.cuda.is_current_stream_capturing()", "asks whether it is being recorded"),
            ("x = '/pr' + 'oc/self'", "looks at the machine"),
            ("x = '/pr' 'oc/self'", "looks at the machine"),
            ("x = f'{1}/dev/shm'", "looks at the machine"),
            ("x = b'/etc/passwd'", "looks at the machine"),
            ("s = '#include <a>\\nvoid f() { dlsym(0, 0); }'", "has C++ that no kernel needs"),
            ("import torch\ns = torch.cuda.Stream()", "works on a stream that it never joins"),
        ):
            with self.subTest(text):
                self.assertIn(kind, [found.partition(": ")[0] for found in marks(text)])

    def test_honest_uses_of_the_same_words(self):
        for text in (
            "'''Opens /dev/null, not.'''\n# open('/proc')\n",
            "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True",
            "import torch._inductor.config as c\nc.max_autotune = True",
            "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '9.0'",
            "import torch\nf = torch.compile(torch.mm)",
            "from torch import compile\nf = compile(int)",
            "import torch\nw = torch.signal.windows.hann",
            "class A:\n  def open(self): pass\nA().open()\nA.x = 1",
            "def open(x): return x\nopen(1)",
            "import torch\nm = torch.nn.Linear(1, 1).eval()",
            "import torch\ns = torch.cuda.Stream()\ns.wait_stream(torch.cuda.current_stream())",
            "s = '''#include <torch/extension.h>\n// dlsym\nvoid f() {}'''",
            "import threading\nimport functools, math, tempfile",
        ):
            with self.subTest(text):
                self.assertEqual(marks(text), [])

    def test_long_chains_are_read(self):
        self.assertEqual(marks("x = 0" + " + 1" * 2500), [])
        self.assertEqual(marks("x = y" + ".a" * 2500), [])

    def test_no_honest_program_is_marked(self):
        programs = [path for pattern in (
            "tests/bad_candidates/python*/honest*.py", "tests/tasks/torch/*.py",
            "configs/tasks/**/*.py", "tests/gpu/tasks/**/*.py", "tests/gpu/python/*_t*.py",
            "tests/gpu/python/rmsnorm*.py")
            for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)]
        self.assertGreater(len(programs), 40)
        for path in programs:
            with self.subTest(path), open(path, encoding="utf-8") as file:
                self.assertEqual(marks(file.read()), [])


if __name__ == "__main__":
    unittest.main()
