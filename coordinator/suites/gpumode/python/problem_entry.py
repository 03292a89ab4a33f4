"""A task's entry around Python in GPU MODE's form, made by ksearch: `run` takes the tensors and numbers
of `data` one by one, then the results' places; or it returns the results of a candidate, where they are the
task's outputs as they are. fresh_draws.py, placement.py, problem_entries.py, object_forms.py,
nested_values.py and, behind the reference, judge_outputs.py follow it.

As a reference it calls ref_kernel of reference.py on copies, and make_inputs calls generate_input. As the
baseline it calls ref_kernel as it would a candidate, so that the two times compare. As a candidate it calls
custom_kernel of submission.py, which lies beside it unchanged. Where a problem's functions have other names,
it calls these.
"""

import functools as _functools
import inspect as _inspect
import json as _json

_SPEC = _json.loads(bytes.fromhex("@SPEC@").decode("utf-8"))
_ROLE = "@ROLE@"  # "reference", "baseline" or "submission"
_SIDE = "submission" if _ROLE == "submission" else "reference"
_ksearch_added_from = 1
# Fresh inputs come from so many seeds, the least of which is as large: problems add seeds to values, so that
# large ones would drown these in rounding.
_SEEDS = 1 << 15


def _names_of(side):
    """The functions that a call runs; `side`: "reference" or "submission"."""
    if not _SPEC["entries"]:
        return ["ref_kernel" if side == "reference" else "custom_kernel"]
    return [call[side] for call in _SPEC["entries"]["calls"]]


def _as_stored(tensor, entry):
    """What the task holds of a tensor of the problem: memory in its own order, bits of other types."""
    own = getattr(_torch, entry["own_dtype"])
    if tensor.dtype != own:
        wide = tensor.to(own)
        if not bool((wide.to(tensor.dtype) == tensor).all()):
            raise ValueError(f"'{entry['name']}' has values that {own} does not hold")
        tensor = wide
    tensor = tensor.detach().permute(entry["order"]).contiguous()
    stored = getattr(_torch, entry["dtype"])
    return tensor if tensor.dtype == stored else tensor.view(stored)


def _as_own(tensor, entry):
    """The problem's tensor over the task's memory."""
    own = getattr(_torch, entry["own_dtype"])
    if tensor.dtype != own:
        tensor = tensor.view(own)
    order = entry["order"]
    if order == list(range(len(order))):
        return tensor
    return tensor.permute([order.index(i) for i in range(len(order))])


def make_inputs(seed, case_number):
    case = arguments_of(_SPEC["cases"][case_number])
    secret, seed = seed, _SEEDS + seed % _SEEDS
    with fresh_draws(seed, secret), _on("cuda" if _torch.cuda.is_available() else "cpu"):
        import reference

        maker = maker_of_data(_SPEC["entries"], reference)
        tree = Flat(_SPEC["data"], maker(**seeded(case, maker, seed)))
    made = {entry["name"]: value for entry, value in zip(_SPEC["numbers"], tree.numbers)}
    for entry, tensor in zip(_SPEC["inputs"], tree.tensors):
        if entry["output"] < 0:
            made[entry["name"]] = _as_stored(tensor, entry)
    return made


def _data(arguments, outputs):
    """`data` over the task's memory; places of results are those results' own memory."""
    arguments = list(arguments)
    tensors = []
    for entry in _SPEC["inputs"]:
        tensor = outputs[entry["output"]] if entry["output"] >= 0 else arguments.pop(0)
        if _ROLE == "reference" or entry["updated"] or (entry["unset"] and entry["output"] < 0):
            tensor = tensor.clone()
        tensors.append(_as_own(tensor, entry))
    numbers = [
        bool(value) if entry["kind"] == "bool" else value
        for entry, value in zip(_SPEC["numbers"], arguments)
    ]
    return rebuilt(_SPEC["data"], tensors, numbers)


@_functools.lru_cache(None)
def _what_returns():
    names = _names_of(_SIDE)
    return f"what {' and '.join(names)} {'returns' if len(names) == 1 else 'return'}"


def _item(number, entry, output, what):
    kinds = {"bool": bool, "int": int, "float": (int, float)}
    if not isinstance(number, kinds[entry["item"]]):
        raise ReturnedTypeError(f"{what} holds a {type(number).__name__} as '{entry['name']}': return a {entry['item']}")
    return _torch.tensor(number, dtype=output.dtype, device=output.device)


def _store(result, outputs):
    what = _what_returns()
    parts = leaves(_SPEC["result"], result, what)
    for entry, leaf, output in zip(_SPEC["outputs"], parts, outputs):
        if entry["item"] is not None and type(leaf) is not _torch.Tensor:
            leaf = _item(leaf, entry, output, what)
        if type(leaf) not in (_torch.Tensor, _torch.nn.Parameter):
            raise ReturnedTypeError(f"{what} holds a {type(leaf).__name__} as '{entry['name']}', not a tensor")
        own = getattr(_torch, entry["own_dtype"])
        place = _as_own(output, entry)
        if leaf.dtype not in (own, getattr(_torch, entry["returned_dtype"])):
            raise ReturnedDtypeError(f"{what} has dtype {leaf.dtype} as '{entry['name']}': return {own}")
        if leaf.shape != place.shape or leaf.device != place.device:
            raise ReturnedShapeError(
                f"{what} has shape {tuple(leaf.shape)} on {leaf.device} as '{entry['name']}': "
                f"return {tuple(place.shape)} on {place.device}"
            )
        if leaf.data_ptr() != place.data_ptr() or leaf.stride() != place.stride():
            place.copy_(leaf)


if _ROLE == "submission":
    import submission as _submission

    for _name in _names_of("submission"):
        if not callable(getattr(_submission, _name, None)):
            raise AttributeError(f"submission.py defines no function '{_name}'")


def _on(device):
    """Problems name "cuda" themselves; on processors that is what they get."""
    return placed("cpu") if device == "cpu" else _contextlib.nullcontext()


@_functools.lru_cache(None)
def _own(device):
    """The functions of the submission or of the problem as one, data -> result."""
    if _ROLE == "submission":
        module = _submission
    else:
        if _ROLE == "baseline" and device == "cpu":
            # For the rest of the process: no call's time has a part of it.
            placed("cpu", fill=None).__enter__()
        import reference as module

    answer = answering(_SPEC["entries"], module, _SIDE)
    if "in" not in _SPEC["result"]:
        return answer

    def write(data):
        answer(data)
        return written_in(_SPEC["result"], _SPEC["data"], data)

    return write


def _device_of(tensors):
    return next((tensor.device.type for tensor in tensors if isinstance(tensor, _torch.Tensor)), "cpu")


def _split(arguments):
    count = len(_SPEC["outputs"])
    return arguments[:-count], arguments[-count:]


def _written(*arguments):
    inputs, outputs = _split(arguments)
    device = _device_of(outputs)
    with _on(device) if _ROLE == "reference" else _contextlib.nullcontext():
        _store(_own(device)(_data(inputs, outputs)), outputs)


def _prepare_written(*arguments):
    """The program's own call, with `data` as upstream's clock gives it, the same in every call of a
    benchmark; and what takes its result."""
    inputs, outputs = _split(arguments)
    own, data = _own(_device_of(outputs)), _data(inputs, outputs)
    return (lambda: own(data)), (lambda result: _store(result, outputs))


def _prepare_returned(*inputs):
    own, data = _own(_device_of(inputs)), _data(inputs, [])
    return (lambda: own(data)), _results


def _returned(*inputs):
    return _results(_own(_device_of(inputs))(_data(inputs, [])))


def _results(result):
    parts = leaves(_SPEC["result"], result, _what_returns())
    for entry, leaf in zip(_SPEC["outputs"], parts):
        if type(leaf) not in (_torch.Tensor, _torch.nn.Parameter):
            raise ReturnedTypeError(f"{_what_returns()} holds a {type(leaf).__name__} as '{entry['name']}'")
    return tuple(leaf.detach() for leaf in parts)


def _entry():
    """`run`: returns fresh results that are the task's outputs as they are, so that copying them to their
    place can be told from the submission's own work; writes others there itself."""
    taken = {entry["output"] for entry in _SPEC["inputs"]}
    plain = all(
        i not in taken
        and entry["item"] is None
        and entry["own_dtype"] == entry["dtype"] == entry["returned_dtype"]
        and entry["order"] == list(range(len(entry["order"])))
        for i, entry in enumerate(_SPEC["outputs"])
    )
    if _ROLE == "reference" or not plain:
        return _written
    # The runner looks at how many arguments there are.
    count = sum(entry["output"] < 0 for entry in _SPEC["inputs"]) + len(_SPEC["numbers"])
    only = _inspect.Parameter.POSITIONAL_ONLY
    _returned.__signature__ = _inspect.Signature([_inspect.Parameter(f"x{i}", only) for i in range(count)])
    return _returned


if _ROLE != "reference":
    _written.prepare = _prepare_written
    _returned.prepare = _prepare_returned
run = _entry()
