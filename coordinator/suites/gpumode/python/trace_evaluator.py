

# ---- What eval.py calls where reference.py has not the usual functions: it is run as for a test of one case.
USUAL = ("generate_input", "ref_kernel", "check_implementation")


def missing_in(reference):
    """The first usual function that reference.py lacks, or None."""
    return next((name for name in USUAL if not callable(getattr(reference, name, None))), None)


class Stopped(BaseException):
    """Ends eval.py, which goes on after an Exception."""


def has_tensors(torch, value):
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return any(has_tensors(torch, part) for part in value)
    return isinstance(value, torch.Tensor)


def no_process(*_):
    raise RuntimeError("it starts a process, which is not followed")


def same_arguments(one, other):
    """Of two calls: the same objects, or equal values that are none."""
    def same(a, b):
        return a is b or (isinstance(a, (bool, int, float, str)) and type(a) is type(b) and a == b)

    (values, named), (others, also_named) = one, other
    return (
        len(values) == len(others)
        and named.keys() == also_named.keys()
        and all(map(same, values, others))
        and all(same(value, also_named[key]) for key, value in named.items())
    )


class Evaluator:
    """Runs eval.py, and notes its calls of functions of reference.py and of the submission."""

    def __init__(self, torch, reference, path):
        self._torch = torch
        self._reference = reference
        self._path = path
        self._refused = None
        self._depth = 0
        self._stop_at = None
        self._calls = []  # of reference.py: (name, (values, named), result)
        self.made = []  # such calls that make tensors of none, by eval.py itself
        self.asked = []  # of the submission: (name, (values, named), name in reference.py, result)

    def arguments(self, case, name):
        """Those of this function when eval.py calls it first for a case."""
        self._stop_at = name
        said = self._run(case)
        if not self.made:
            raise Refused(f"eval.py does not call {name} for each case" + said)
        return self.made[0][1]

    def trace(self, case):
        said = self._run(case)
        if not self.made or not self.asked:
            uncalled = "functions of the submission" if self.made else "a function of reference.py that makes data"
            lacks = missing_in(self._reference)
            raise Refused(f"reference.py defines no function {lacks}, and eval.py calls no {uncalled}" + said)
        if said:
            raise Refused("eval.py fails with the reference's own answers" + said)

    def _run(self, case):
        """What eval.py says of a failure, as the end of a sentence."""
        torch = self._torch
        own = {
            name: function
            for name, function in vars(self._reference).items()
            if inspect.isfunction(function) and function.__module__ == self._reference.__name__
        }
        submission = types.ModuleType("submission")
        submission.__getattr__ = self._function_of_submission
        saved = sys.argv, dict(os.environ), torch.cuda.is_available, multiprocessing.process.BaseProcess.start
        log = tempfile.TemporaryFile("w+")
        status = 0
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as cases:
            cases.write("; ".join(f"{key}: {value}" for key, value in case.items()) + "\n")
            cases.flush()
            try:
                sys.argv = [self._path, "test", cases.name]
                os.environ["POPCORN_FD"] = str(os.dup(log.fileno()))
                sys.modules["submission"] = submission
                torch.cuda.is_available = lambda: True
                multiprocessing.process.BaseProcess.start = no_process
                for name, function in own.items():
                    setattr(self._reference, name, self._noted(name, function))
                with on_processors(), contextlib.redirect_stdout(io.StringIO()):
                    runpy.run_path(self._path, run_name="__main__")
            except Stopped:
                if self._refused is not None:
                    raise self._refused
            except SystemExit as end:
                status = end.code
            except Exception as error:
                return f" ({type(error).__name__}: {str(error)[:200]})"
            finally:
                for name, function in own.items():
                    setattr(self._reference, name, function)
                torch.cuda.is_available = saved[2]
                multiprocessing.process.BaseProcess.start = saved[3]
                del sys.modules["submission"]
                os.environ.clear()
                os.environ.update(saved[1])
                sys.argv = saved[0]
        log.seek(0)
        errors = [line.split(": ", 1)[1] for line in log.read().splitlines() if re.match(r"[\w.]*error: ", line)]
        return f" ({errors[0][:200]})" if errors else f" (status {status})" if status else ""

    def _noted(self, name, function):
        @functools.wraps(function)
        def noted(*values, **named):
            outermost = self._depth == 0
            makes = outermost and not has_tensors(self._torch, (values, named))
            if makes and name == self._stop_at:
                self.made.append((name, (values, named), None))
                raise Stopped
            self._depth += 1
            try:
                result = function(*values, **named)
            finally:
                self._depth -= 1
            if makes and has_tensors(self._torch, result):
                self.made.append((name, (values, named), result))
            elif not makes:
                self._calls.append((name, (values, named), result))
            return result

        return noted

    def _function_of_submission(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def asked(*values, **named):
            """What the reference answers, in tensors of its own."""
            for counterpart, arguments, result in self._calls:
                if same_arguments(arguments, (values, named)):
                    break
            else:
                counterpart = self._only_one_that_takes(name, values, named)
                result = getattr(self._reference, counterpart)(*values, **named)
            tree = Tree(self._torch, None, of_results=True)
            node = tree.of(result)
            copies = [tensor.clone() for _, tensor in tree.tensors]
            self.asked.append((name, (values, named), counterpart, copies))
            return rebuilt(node, copies, [])

        return asked

    def _only_one_that_takes(self, name, values, named):
        """The function of reference.py for a call that eval.py makes before the reference's own."""
        makers = {each[0] for each in self.made}
        found = []
        for each, function in vars(self._reference).items():
            if not inspect.isfunction(function) or function.__module__ != self._reference.__name__ or each in makers:
                continue
            try:
                inspect.signature(function).bind(*values, **named)
            except TypeError:
                continue
            found.append(each)
        if len(found) != 1:
            self._refused = Refused(f"eval.py does not show which function of reference.py answers as {name} has to")
            raise Stopped
        return found[0]


def argument_of(value, data):
    """Where a call has an argument from (problem_entries.py); None: it is no part of these data."""
    if value is data:
        return {"whole": True}
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (tuple, list)) else ()
    for key, part in parts:
        if part is value:
            return {"part": key}
    return {"constant": value} if value is None or isinstance(value, (bool, int, float, str)) else None


def arguments_from(made, values, named, name):
    for _, _, data in made:
        found = [argument_of(value, data) for value in values]
        by_name = [[key, argument_of(value, data)] for key, value in named.items()]
        if None not in found and all(where is not None for _, where in by_name):
            return {"arguments": found, "named": by_name}
    raise Refused(f"eval.py passes {name} a value that is not part of what {made[0][0]} returns")


def spelled(function, values, named):
    """The arguments of a call by name, as a case has them."""
    bound = inspect.signature(function).bind(*values, **named)
    bound.apply_defaults()
    case = {}
    for name, value in bound.arguments.items():
        value = {"tuple": list(value)} if type(value) is tuple else value
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise Refused(f"eval.py calls {function.__name__} with a {type(value).__name__} as '{name}'")
        case[name] = value
    if "seed" not in case:
        raise Refused(f"{function.__name__} takes no argument 'seed'")
    return case


def entries_by_evaluator(torch, reference, checks, cases):
    """(entries, bounds of each result, the arguments of the cases) as eval.py shows them; see
    problem_entries.py."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "eval.py")
    if not os.path.exists(path):
        raise Refused(f"reference.py defines no function {missing_in(reference)}")

    def size(case):
        return sum(value for name, value in case.items() if name != "seed" and type(value) in (int, float))

    checks.seen.clear()
    evaluator = Evaluator(torch, reference, path)
    evaluator.trace(min(cases, key=size))
    makers = sorted({name for name, _, _ in evaluator.made})
    if len(makers) > 1:
        raise Refused(f"eval.py makes data by more than one function: {', '.join(makers)}")
    calls, bounds = [], []
    for name, (values, named), counterpart, copies in evaluator.asked:
        call = {"reference": counterpart, "submission": name}
        call.update(arguments_from(evaluator.made, values, named, name))
        if call in calls:
            continue
        if any(each["submission"] == name for each in calls):
            raise Refused(f"eval.py calls {name} more than once, with other arguments")
        calls.append(call)
        for found in checks.of(copies):
            if found is None:
                raise Refused(f"eval.py compares what {name} returns by none of the means that are known here")
            bounds.append(found)
    checks.seen.clear()
    made = [Evaluator(torch, reference, path).arguments(case, makers[0]) for case in cases]
    maker = getattr(reference, makers[0])
    return {"generate": makers[0], "calls": calls}, bounds, [spelled(maker, *arguments) for arguments in made]


def check_within(torch, answer, bounds):
    """check_implementation by the bounds of each result."""
    def check(data, output):
        one, other = Tree(torch, None, of_results=True), Tree(torch, None, of_results=True)
        one.of(output)
        other.of(answer(data))
        wrong = [
            i
            for i, ((_, a), (_, b), (rtol, atol)) in enumerate(zip(one.tensors, other.tensors, bounds))
            if not torch.allclose(a, b, rtol=rtol, atol=atol)
        ]
        return not wrong, f"result {wrong[0]} differs" if wrong else ""

    return check
