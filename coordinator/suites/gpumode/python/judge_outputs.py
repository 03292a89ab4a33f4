

# ---- The problem's own check as the judge.
class _Compared:
    """Within it, whether a NaN or an infinity is put in order with something or read as a number.

    A check that asks whether an error is too large takes a NaN for right, and an infinity if the bound is one
    as well; numbers that overflow in the check make them of outputs that are finite.
    """

    def __init__(self):
        self.odd = False
        self._mode = None

    def __enter__(self):
        try:
            from torch.utils._python_dispatch import TorchDispatchMode
        except ImportError:
            return self  # torch is too old: nothing is seen
        watch = self
        ordering = {"gt", "ge", "lt", "le", "_local_scalar_dense"}

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, values=(), named=None):
                result = function(*values, **(named or {}))
                name = getattr(getattr(function, "overloadpacket", None), "__name__", "")
                if name in ordering and not watch.odd:
                    for value in values:
                        if isinstance(value, _torch.Tensor) and value.is_floating_point():
                            watch.odd = watch.odd or not bool((value - value == 0).all())
                return result

        self._mode = Mode()
        self._mode.__enter__()
        return self

    def __exit__(self, *what):
        if self._mode is not None:
            self._mode.__exit__(*what)


def _says(reference, data, result):
    """What check_implementation says, and whether it compares what is no number."""
    compared = _Compared()
    try:
        with compared:
            said = reference.check_implementation(data, result)
    except Exception:
        # Not everything of torch can be watched. If the check itself fails, it does so again.
        said = reference.check_implementation(data, result)
    good, words = said if isinstance(said, tuple) else (not said, said)
    return bool(good), words, compared.odd


def _compares_its_own(reference, inputs, outputs):
    """Whether the check compares what is no number for the reference's answer, too."""
    data = _data(inputs, [_torch.zeros_like(output) for output in outputs])
    result = answering(_SPEC["entries"], reference, "reference")(data)
    if "in" not in _SPEC["result"]:
        data = _data(inputs, [_torch.zeros_like(output) for output in outputs])
    return _says(reference, data, result)[2]


def judge_outputs(*arguments):
    """Whether check_implementation takes these results."""
    count = len(_SPEC["outputs"])
    inputs, outputs, verdict = arguments[: -count - 1], arguments[-count - 1 : -1], arguments[-1]
    parts = []
    for entry, output in zip(_SPEC["outputs"], outputs):
        own = _as_own(output.clone(), entry)
        parts.append(own.to(getattr(_torch, entry["returned_dtype"])))
    with _on(verdict.device.type):
        import reference

        data = _data(inputs, [_torch.zeros_like(output) for output in outputs])
        if "in" in _SPEC["result"]:
            result = None
            for place, part in zip(written_in(_SPEC["result"], _SPEC["data"], data), parts):
                place.copy_(part)
        else:
            result = rebuilt(_SPEC["result"], parts, [])
        good, words, odd = _says(reference, data, result)
        doubtful = good and odd and not _compares_its_own(reference, inputs, outputs)
        if verdict.device.type == "cuda":
            # Candidates need the room.
            del data, parts, result
            _torch.cuda.empty_cache()
    words = str(words).encode("ascii", "replace").replace(b"\0", b"?")[: len(verdict) - 2]
    verdict.zero_()
    verdict[0] = 3 if doubtful else 1 if good else 2
    if not good and words:
        verdict[1 : 1 + len(words)] = _torch.tensor(list(words), dtype=_torch.int8)
