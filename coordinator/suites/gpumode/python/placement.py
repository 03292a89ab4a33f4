

# ---- Where a problem's own Python is run.
import contextlib as _contextlib
import functools as _functools

import torch as _torch

_MAKERS = (
    "empty zeros ones full rand randn randint randperm arange linspace logspace eye tensor as_tensor "
    "empty_like zeros_like ones_like full_like rand_like randn_like randint_like empty_strided "
    "tril_indices triu_indices normal"
).split()
_METHODS = "to cuda new_empty new_zeros new_ones new_full new_tensor".split()
_UNSET = ("empty", "empty_like", "empty_strided", "new_empty")


@_contextlib.contextmanager
def placed(device, fill=0, shapes_only=False):
    """What asks for "cuda" within gets `device`: "cpu", or "meta" for tensors without values. What
    torch.empty and its like return has bytes of `fill`, unless that is None. `shapes_only`: zeros may stand
    for results that processors cannot compute."""

    def moved(value):
        if isinstance(value, str) and value.split(":")[0] == "cuda":
            return device
        if isinstance(value, _torch.device) and value.type == "cuda":
            return _torch.device(device)
        return value

    def made(function, name):
        @_functools.wraps(function)
        def make(*values, **named):
            values = [moved(value) for value in values]
            named = {key: moved(value) for key, value in named.items()}
            if device == "meta":
                named.pop("generator", None)
                named.pop("pin_memory", None)
            if device == "meta" and name in _MAKERS and "_like" not in name and name != "as_tensor":
                named["device"] = "meta"
            out = function(*values, **named)
            if fill is not None and name in _UNSET and out.device.type == "cpu" and out.numel():
                out.view(-1).view(_torch.uint8).fill_(fill) if out.is_contiguous() else out.zero_()
            return out

        return make

    def to_device(tensor, *_, **__):
        return tensor.to(device)

    def scaled_or_shaped(function):
        """Processors scale whole tensors only; of a block-scaled product they get a result of that shape."""

        @_functools.wraps(function)
        def multiply(one, two, *values, **named):
            try:
                return function(one, two, *values, **named)
            except (RuntimeError, NotImplementedError):
                return _torch.zeros(one.shape[0], two.shape[1], dtype=named.get("out_dtype") or _torch.float32)

        return multiply

    real_generator = _torch.Generator

    class AnyGenerator(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real_generator)

    # A class, since torch's own modules that are imported within say `torch.Generator | None`.
    class Generator(metaclass=AnyGenerator):
        def __new__(cls, *_, **__):
            return real_generator()

    saved = []

    def replace(owner, name, value):
        saved.append((owner, name, owner.__dict__.get(name), name in owner.__dict__))
        setattr(owner, name, value)

    try:
        for name in _MAKERS:
            if hasattr(_torch, name):
                replace(_torch, name, made(getattr(_torch, name), name))
        for name in _METHODS:
            replace(_torch.Tensor, name, made(getattr(_torch.Tensor, name), name))
        replace(_torch.Tensor, "cuda", to_device)
        if shapes_only and hasattr(_torch, "_scaled_mm"):
            replace(_torch, "_scaled_mm", scaled_or_shaped(_torch._scaled_mm))
        replace(_torch, "Generator", Generator)
        if device == "meta":
            # There are no values to check.
            replace(_torch.distributions.Distribution, "_validate_args", False)
        for name in ("synchronize", "manual_seed", "manual_seed_all", "empty_cache"):
            replace(_torch.cuda, name, lambda *_, **__: None)
        yield
    finally:
        for owner, name, value, own in reversed(saved):
            if own:
                setattr(owner, name, value)
            else:
                delattr(owner, name)


def arguments_of(case):
    """A case's arguments of generate_input; a tuple comes as {"tuple": [...]}."""
    return {
        name: tuple(value["tuple"]) if isinstance(value, dict) else value for name, value in case.items()
    }
