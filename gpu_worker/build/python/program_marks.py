"""What the text of a program in Python does that no kernel needs: for Python what
gpu_worker/build/marks is for C++. marks_of(tree) gives (line, kind, word) for the first place of each
kind. Text can be disguised, so a mark only raises the bar; what must not happen is prevented
elsewhere. Runs nothing of the program.
"""

import ast
import re

# By dotted names, of which a module's own name is one: "os.fork" is found in "torch.os.fork" too, but
# "=signal" not in "torch.signal". Functions of modules that kernels do use are named one by one.
DOTTED = {
    "opens files": """open io.open io.FileIO os.open os.fdopen os.read os.write os.pread os.scandir
        os.listdir os.walk =glob =shutil codecs.open linecache numpy.load numpy.save
        numpy.fromfile numpy.memmap torch.load torch.save torch.from_file mmap sqlite3 =pickle
        read_text read_bytes write_text write_bytes""",
    "looks at the machine": "os.environb os.getpid os.getppid os.readlink =pwd =resource psutil",
    "starts processes": """subprocess multiprocessing torch.multiprocessing pty os.fork os.forkpty
        os.system os.popen os.execl os.execle os.execlp os.execv os.execve os.execvp os.execvpe
        os.spawnl os.spawnv os.posix_spawn os.posix_spawnp _posixsubprocess concurrent.futures.process
        ProcessPoolExecutor""",
    "talks to others": """socket socketserver =ssl urllib =http ftplib requests xmlrpc
        torch.distributed os.mkfifo os.pipe""",
    "looks up functions of other libraries": "ctypes _ctypes cffi ctypeslib CDLL PyDLL sys.setdlopenflags",
    "traces, handles signals, system calls": """=signal faulthandler os.kill os.killpg os._exit
        sys.settrace sys.setprofile threading.settrace threading.setprofile sys.monitoring
        sys.addaudithook""",
    "looks through objects of others": """gc.get_objects gc.get_referrers gc.get_referents
        gc.callbacks sys._getframe sys._current_frames inspect.currentframe inspect.stack sys.modules
        __main__ builtins __builtins__ __globals__ __closure__ __code__ __subclasses__ __loader__ f_back
        f_locals f_globals tb_frame gi_frame tracemalloc ksearch_runner
        ksearch_runner_modules""",
    "replaces functions of others": """torch.library.Library.impl torch.library.impl
        TorchDispatchMode TorchFunctionMode torch.overrides torch.utils._python_dispatch
        torch.utils.rename_privateuse1_backend sys.meta_path sys.path_hooks importlib.abc
        forbiddenfruit unittest.mock""",
    "runs text as code": "eval exec compile __import__ importlib runpy imp marshal types.CodeType",
    "runs outside of its calls": "atexit weakref.finalize sys.exitfunc threading.excepthook sys.excepthook",
    "asks whether it is being recorded": """is_current_stream_capturing currentStreamCaptureStatus
        is_capturing""",
    "makes a context of its own": "cuCtxCreate cuDevicePrimaryCtxRetain cuCtxSetCurrent cuCtxPushCurrent",
}
# Builtins that others' methods may be called like.
BARE = {"open", "eval", "exec", "compile", "__import__"}
# Within literals that are not only documentation.
TEXTS = {
    "looks at the machine": ("/proc", "/sys/", "/dev/", "/etc/", "/home", "/root", "LD_PRELOAD",
                             "libcuda.so", "libc.so"),
}
# In literals that hold C++, words that call something; gpu_worker/build/marks says why.
CPP_TEXT = re.compile(r'#\s*include|__global__|__device__|extern\s+"C"')
CPP_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CPP_WORDS = re.compile(
    r"\b(dlopen|dlsym|dlvsym|dladdr|dl_iterate_phdr|mprotect|mmap|mremap|memfd_create|fopen|openat|"
    r"opendir|ifstream|ofstream|fstream|O_RDONLY|O_RDWR|O_WRONLY|fork|vfork|execve?|execvp|popen|"
    r"posix_spawnp?|pthread_create|jthread|ptrace|process_vm_readv|process_vm_writev|syscall|"
    r"sigaction|timer_create|setitimer|prctl|AF_UNIX|AF_INET6?|cuCtxCreate\w*|"
    r"cuDevicePrimaryCtxRetain|cuCtxSetCurrent|cuCtxPushCurrent\w*|cuGetProcAddress\w*|"
    r"cudaStreamIsCapturing|cudaStreamGetCaptureInfo\w*|cudaAccessPropertyPersisting|"
    r"__constructor__|constructor|PROT_EXEC|RTLD_NEXT|RTLD_DEFAULT)\b"
)
# Settings of modules that programs are meant to change.
SETTINGS = {"backends", "config", "knobs", "_dynamo", "_inductor", "environ"}
# Any of these awaits what is on a stream.
JOINS = {"wait_stream", "wait_event", "synchronize", "wait", "current_stream"}

RULES = {tuple(word.lstrip("=").split(".")): kind
         for kind, words in DOTTED.items() for word in words.split()}
AT_START = {word[1:] for words in DOTTED.values() for word in words.split() if word[0] == "="}
LONGEST = max(len(rule) for rule in RULES)
REPLACES = "replaces functions of others"
UNJOINED = "works on a stream that it never joins"


class _Marks:
    def __init__(self, tree):
        self.names = {}  # of the program's own, what is imported: "np" -> ("numpy",)
        self.own = set()  # what it defines itself
        self.found = {}  # kind -> (line, word)
        nodes = list(ast.walk(tree))
        self.documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        # "a.b" of "a.b.c", of which the whole is looked at once.
        self.parts = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            self._learn(node)
        for node in nodes:
            self._look(node)
        stream = next((node for node in nodes if isinstance(node, ast.Call)
                       and self._path(node.func)[-2:] == ("cuda", "Stream")), None)
        if stream is not None and not any(
                isinstance(node, ast.Attribute) and node.attr in JOINS for node in nodes):
            self._add(UNJOINED, stream, "torch.cuda.Stream")

    def _add(self, kind, node, word):
        place = (getattr(node, "lineno", 1), word)
        self.found[kind] = min(self.found.get(kind, place), place)

    def _learn(self, node):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = tuple(alias.name.split("."))
                self.names[alias.asname or module[0]] = module if alias.asname else module[:1]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = tuple((node.module or "").split("."))
            for alias in node.names:
                self.names[alias.asname or alias.name] = module + (alias.name,)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.own.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.own.add(node.id)
        elif isinstance(node, ast.arg):
            self.own.add(node.arg)

    def _path(self, node):
        """ "np.fft.fft" -> ("numpy", "fft", "fft"); "" stands for a value that has no name."""
        parts = []
        while True:
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            elif (isinstance(node, ast.Call) and self._is_named(node.func, "getattr")
                  and len(node.args) > 1 and self._text(node.args[1]) is not None):
                parts.append(self._text(node.args[1]))
                node = node.args[0]
            else:
                break
        root = ("",)
        if isinstance(node, ast.Name):
            root = self.names.get(node.id, (node.id,))
        return root + tuple(reversed(parts))

    def _is_named(self, node, name):
        return isinstance(node, ast.Name) and node.id == name

    def _is_of_others(self, node):
        """Whether it is an imported module, or in one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.names

    def _text(self, node, depth=0):
        """The literal's text, also of one that is put together; None if it is none."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            return node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < 40:
            left = self._text(node.left, depth + 1)
            right = self._text(node.right, depth + 1)
            return None if left is None or right is None else left + right
        return None

    def _look(self, node):
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._look_up(node, tuple(alias.name.split(".")))
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                self._look_up(node, tuple((node.module or "").split(".")) + (alias.name,))
        elif isinstance(node, ast.Attribute) and id(node) not in self.parts:
            self._look_up(node, self._path(node))
            if not isinstance(node.ctx, ast.Load):
                self._replaces(node)
        elif isinstance(node, ast.Name):
            path = self.names.get(node.id, (node.id,))
            if node.id in self.names or node.id not in self.own:
                self._look_up(node, path, bare=node.id not in self.names)
        elif isinstance(node, ast.Call):
            self._look_at_call(node)
        elif isinstance(node, (ast.Constant, ast.BinOp)) and id(node) not in self.documentation:
            text = self._text(node)
            if text is not None:
                self._look_at_text(node, text)

    def _look_up(self, node, path, bare=False):
        for start in range(len(path)):
            for end in range(start + 1, min(len(path), start + LONGEST) + 1):
                part = path[start:end]
                kind = RULES.get(part)
                if kind is None or (part[0] in AT_START and start > 0):
                    continue
                if part[0] in BARE and len(part) == 1 and not bare:
                    continue
                self._add(kind, node, ".".join(part))

    def _replaces(self, target):
        if self._is_of_others(target) and not SETTINGS.intersection(self._path(target)):
            self._add(REPLACES, target, ".".join(self._path(target)))

    def _look_at_call(self, call):
        if isinstance(call.func, ast.Name) and call.func.id in ("getattr", "setattr", "delattr", "vars"):
            path = self._path(call) if call.func.id == "getattr" else self._path(call.func)
            if call.func.id == "getattr":
                self._look_up(call, path)
            elif call.args and self._is_of_others(call.args[0]):
                if not SETTINGS.intersection(self._path(call.args[0])):
                    self._add(REPLACES, call, f"{call.func.id}({'.'.join(self._path(call.args[0]))})")
        if self._path(call.func)[-1:] == ("Library",) and call.args and self._text(call.args[0]) in (
                "aten", "prims", "prim"):
            self._add(REPLACES, call, "torch.library.Library")

    def _look_at_text(self, node, text):
        for kind, words in TEXTS.items():
            for word in words:
                if word in text:
                    self._add(kind, node, word)
        if CPP_TEXT.search(text):
            word = CPP_WORDS.search(CPP_COMMENT.sub(" ", text))
            if word is not None:
                self._add("has C++ that no kernel needs", node, word.group(1))


def marks_of(tree):
    found = _Marks(tree).found
    return [(line, kind, word) for kind, (line, word) in sorted(found.items())]
