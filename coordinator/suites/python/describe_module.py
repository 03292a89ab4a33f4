"""Describes a problem made of an nn.Module: problem.py with Model, get_inputs and get_init_inputs.

Runs in a worker's sandbox, once, on processors. Prints one line, "ksearch-description: " and a JSON object:
either {"error"} or {"init", "inputs", "parameters", "buffers", "outputs", "made", "degenerate", "untested"}.
Each tensor is {"name", "dtype", "shape"} and, but for outputs, "recipe": how values like it are drawn, or
"parts": the parameters or buffers that it holds one behind the other. "written" of an input says whether Model
writes into it. What cannot be drawn is made by the
problem's own functions ("made"). "degenerate" says what passes without doing the work; "untested" why that
is not known. What no task can be is an error, never a guess. describing.py precedes it.
"""

import copy
import importlib.util
import inspect
import keyword
import math
import re
import sys
import time

PRECISION = "@PRECISION@"
TOLERANCE = @TOLERANCE@  # absolute and relative, as torch.allclose adds them
SEED = 42
# Seed of inputs that are tried. With the parameters' own seed they would be the parameters' own numbers.
TRIED_SEED = 271828
OTHER_SEEDS = (4242, 31337)
SAMPLE = 20000
LOOKED_AT = 1 << 22  # elements of a tensor whose distribution is looked at
FEW = 64
# A task takes so many inputs; problems with more get their parameters and buffers in one tensor a dtype.
MOST_TENSORS = 60
PART_ALIGNMENT = 128  # elements
# Bytes of inputs: beyond this shapes are found without values, where torch can.
LARGE_BYTES = 8 << 20
# What is tried with several answers has so many rows of the inputs, if it can be cut.
TRIED_ROWS = 4
# For a module without parameters: larger extents are divided by this.
SCALED_EXTENT = 256
SCALE = 16
# A problem is not tried if one of its calls takes longer, or if it cannot be cut and its inputs are larger.
TRIED_SECONDS = 20
TRIED_BYTES = 32 << 20
DTYPES = {
    "torch.float32": "float32",
    "torch.float16": "float16",
    "torch.bfloat16": "bfloat16",
    "torch.int64": "int64",
    "torch.int32": "int32",
    "torch.int16": "int16",
    "torch.int8": "int8",
    "torch.bool": "bool",
}


# What torch's own makers of random values draw.
DRAWN = {
    "rand": {"kind": "uniform", "scale": 1.0, "offset": 0.0},
    "randn": {"kind": "normal", "scale": 1.0, "offset": 0.0},
}


class Undrawable(Exception):
    """A tensor whose values no recipe draws."""


class Untested(Exception):
    pass


def dtype_of(torch, what, tensor):
    if tensor.is_floating_point():
        return PRECISION
    return known_dtype(what, tensor.dtype)


def known_dtype(what, dtype):
    name = DTYPES.get(str(dtype))
    if name is None:
        raise Refused(f"{what} has dtype {dtype}, which no task takes")
    return name


def literal(value):
    """Arguments of the constructor as JSON; a tuple is {"tuple": [...]}."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("an argument of Model is not a finite number")
        return value
    if isinstance(value, tuple):
        return {"tuple": [literal(part) for part in value]}
    if isinstance(value, list):
        return [literal(part) for part in value]
    raise Refused(f"an argument of Model is a {type(value).__name__}, not a number or a list of numbers")


def distance(sample, cdf):
    """Largest distance between a sorted sample's steps and a distribution (Kolmogorov-Smirnov)."""
    n = len(sample)
    return max(
        max(cdf(value) - i / n, (i + 1) / n - cdf(value)) for i, value in enumerate(sample)
    )


class Light:
    """Within it torch.rand and torch.randn give large tensors without values, and it is known what they
    would have drawn. Of other tensors without values nothing is known (Unknown)."""

    class Unknown(Exception):
        pass

    def __init__(self, torch, scaled=False):
        self._torch = torch
        self._scaled = scaled  # gives small tensors with values instead
        self._drawn = {}  # by identity: (tensor, maker)
        self._makers = {}

    def __enter__(self):
        for name in DRAWN:
            self._makers[name] = getattr(self._torch, name)
            setattr(self._torch, name, self._light(name))
        return self

    def __exit__(self, *_):
        for name, maker in self._makers.items():
            setattr(self._torch, name, maker)

    def _light(self, name):
        make = self._makers[name]

        def light(*size, **named):
            extents = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
            if self._scaled:
                # As one tuple: it may be empty.
                return make(tuple(e // SCALE if e > SCALED_EXTENT else e for e in extents), **named)
            if named or 4 * math.prod(extents) <= LARGE_BYTES:
                return make(*size, **named)
            tensor = self._torch.empty(tuple(extents), device="meta")
            self._drawn[id(tensor)] = (tensor, name)
            return tensor

        return light

    def check(self, values):
        for value in values:
            if isinstance(value, self._torch.Tensor) and value.device.type == "meta":
                if id(value) not in self._drawn:
                    raise Light.Unknown()

    def recipe(self, tensor):
        return dict(DRAWN[self._drawn[id(tensor)][1]])

    def rows(self, tensor, count):
        """Values of the first rows."""
        return getattr(self._torch, self._drawn[id(tensor)][1])(count, *tensor.shape[1:])


def inputs_of(torch, module, seed):
    """(what get_inputs returns, the Light that knows its tensors without values; None: it has none)."""
    torch.manual_seed(seed)
    light = Light(torch)
    try:
        with light:
            values = list(module.get_inputs())
        light.check(values)
        return values, light
    except Exception:
        # Whatever else is done with them.
        torch.manual_seed(seed)
        return list(module.get_inputs()), None


def has_values(torch, values):
    return all(not isinstance(v, torch.Tensor) or v.device.type != "meta" for v in values)


def float_recipe(torch, what, tensor):
    tensor = tensor.detach()
    if tensor.numel() == 0:
        return {"kind": "normal", "scale": 1.0, "offset": 0.0}
    low, high = float(tensor.min()), float(tensor.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise Refused(f"{what} holds values that are not finite")
    if low == high:
        return {"kind": "constant", "offset": low}
    square = tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1] and tensor.shape[0] > 1
    if square and bool((tensor == tensor.t()).all()):
        raise Undrawable(f"{what} is a symmetric matrix")
    if tensor.numel() < FEW:
        return {"kind": "uniform", "scale": high - low, "offset": low}
    flat = tensor.flatten()
    values = flat[:: max(1, flat.numel() // LOOKED_AT)].double()
    # Every so many, so that the sample has its share of all rows.
    sample = values[:: max(1, values.numel() // SAMPLE)][:SAMPLE]
    if sample.unique().numel() < 0.5 * sample.numel() and tensor.dtype == torch.float32:
        raise Undrawable(f"{what} repeats its values")
    if tensor.dim() > 1 and tensor.shape[-1] >= 8:
        rows = tensor.reshape(-1, tensor.shape[-1])[:4096].double().sum(dim=-1)
        if rows.numel() > 1 and float(rows.std()) < 1e-4 * (abs(float(rows.mean())) + 1e-30):
            raise Undrawable(f"{what} has rows of one sum")
    mean, deviation = float(values.mean()), float(values.std())
    n = sample.numel()
    bound = 2.5 / math.sqrt(n)
    ordered = sorted(sample.tolist())
    width = high - low
    if distance(ordered, lambda v: (v - low) / width) < bound:
        if low >= 0 and high <= 1 and width > 0.9:
            low, width = 0.0, 1.0
        return {"kind": "uniform", "scale": width, "offset": low}
    if abs(mean) < 4 * deviation / math.sqrt(values.numel()):
        mean = 0.0
    if abs(deviation - 1) < 4 / math.sqrt(2 * values.numel()):
        deviation = 1.0
    root = deviation * math.sqrt(2)
    if distance(ordered, lambda v: 0.5 * (1 + math.erf((v - mean) / root))) < bound:
        return {"kind": "normal", "scale": deviation, "offset": mean}
    raise Undrawable(f"{what} holds values that are neither evenly nor normally distributed")


def recipe_of(torch, what, tensor):
    if tensor.is_floating_point():
        return float_recipe(torch, what, tensor)
    if tensor.dtype == torch.bool:
        share = float(tensor.double().mean()) if tensor.numel() else 0.5
        if share > 0:
            return {"kind": "bool", "probability": share}
    elif tensor.numel() and int(tensor.min()) != int(tensor.max()):
        raise Undrawable(f"{what} holds integers")
    return {"kind": "recorded", "values": raw(torch, what, tensor)}


def raw(torch, what, tensor):
    """The bytes in hexadecimal digits."""
    if tensor.numel() * tensor.element_size() > 64 << 10:
        raise Undrawable(f"{what} holds more than 64 KiB of integers")
    return bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()).hex()


def identifier(name, taken):
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not name or name[0].isdigit() or keyword.iskeyword(name):
        name = "x_" + name
    while name in taken:
        name += "_"
    taken.add(name)
    return name


class Tensors:
    """Entries of the description. `undrawable`: why some of them must be made."""

    def __init__(self, torch, light):
        self._torch = torch
        self._light = light
        self.taken = set()
        self.undrawable = []

    def entry(self, what, name, tensor):
        found = {
            "name": identifier(name, self.taken),
            "dtype": dtype_of(self._torch, what, tensor),
            "shape": list(tensor.shape),
        }
        try:
            if tensor.device.type == "meta":
                found["recipe"] = self._light.recipe(tensor)
            else:
                found["recipe"] = recipe_of(self._torch, what, tensor)
        except Undrawable as reason:
            self.undrawable.append(str(reason))
        return found

    def output(self, what, name, tensor, dtype):
        return {
            "name": identifier(name, self.taken),
            "dtype": known_dtype(what, dtype),
            "shape": list(tensor.shape),
        }

    def packed(self, prefix, named):
        """One tensor for each dtype, with all of these in it."""
        groups = {}
        for path, tensor in named:
            groups.setdefault(dtype_of(self._torch, f"'{path}'", tensor), []).append((path, tensor))
        entries = []
        for dtype, members in groups.items():
            parts, end = [], 0
            for path, tensor in members:
                parts.append({"path": path, "shape": list(tensor.shape), "offset": end})
                end += -(-tensor.numel() // PART_ALIGNMENT) * PART_ALIGNMENT
            entries.append(
                {
                    "name": identifier(f"{prefix}{dtype}", self.taken),
                    "dtype": dtype,
                    "shape": [end],
                    "parts": parts,
                }
            )
            self.undrawable.append("parameters and buffers are packed")
        return entries


def leaves_of(torch, out):
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, (tuple, list)):
        return [leaf for part in out for leaf in leaves_of(torch, part)]
    raise Refused(f"forward returns a {type(out).__name__}, not tensors")


def bytes_of(torch, values):
    return sum(v.numel() * v.element_size() for v in values if isinstance(v, torch.Tensor))


def call(torch, model, values, written=None):
    """The leaves of a call that leaves model and values as they are. `written` gets the numbers of the values
    that the call writes into."""
    with torch.no_grad():
        return called(torch, copy.deepcopy(model), copies(torch, values), written)


def copies(torch, values):
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def called(torch, model, own, written=None):
    before = [v._version if isinstance(v, torch.Tensor) else 0 for v in own]
    outs = leaves_of(torch, model(*own))
    if written is not None:
        written.update(i for i, v in enumerate(own) if isinstance(v, torch.Tensor) and v._version != before[i])
    return outs


def without_values(torch, model, values, written=None, dtype=None):
    """The leaves of a call of which torch follows shapes and dtypes alone; None where it cannot. `dtype`: what
    floating values, parameters and buffers are cast to."""

    def given(value):
        if not isinstance(value, torch.Tensor):
            return value
        value = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return value.to(dtype) if dtype is not None and value.is_floating_point() else value

    try:
        with torch.no_grad():
            bare = copy.deepcopy(model).to("meta")
            if dtype is not None:
                bare = bare.to(dtype)
            outs = called(torch, bare, [given(value) for value in values], written)
        return outs if all(out.device.type == "meta" for out in outs) else None
    except Refused:
        raise
    except Exception:
        return None  # not every operation has shapes without values


def outputs_of(torch, module, model, values):
    """The leaves of a call, or tensors of their shapes and dtypes; their dtypes in the suite's precision; and
    the numbers of the values that it writes into."""
    written = set()
    outs = None
    if bytes_of(torch, values) > LARGE_BYTES:
        outs = without_values(torch, model, values, written)
    if outs is None:
        if not has_values(torch, values):
            torch.manual_seed(SEED)
            values = list(module.get_inputs())
        outs = call(torch, model, values, written)
    # A task has all floating values in its precision; what of the results follows is seen without values.
    precision = getattr(torch, PRECISION)
    given = [v for v in values if isinstance(v, torch.Tensor)] + list(model.parameters()) + list(model.buffers())
    floating = {v.dtype for v in given if v.is_floating_point()}
    if floating <= {precision}:
        return outs, [out.dtype for out in outs], written
    cast = without_values(torch, model, values, dtype=precision)
    if cast is not None and len(cast) == len(outs):
        return outs, [out.dtype for out in cast], written
    return outs, [precision if out.dtype in floating else out.dtype for out in outs], written


class Trial:
    """Whether answers that take no work pass, on a few rows of the inputs where these can be cut."""

    def __init__(self, torch, module, model, values, outs):
        self._torch = torch
        self._module = module
        self._model = model
        tensors = [v for v in values if isinstance(v, torch.Tensor) and v.dim() > 0]
        rows = {tensor.shape[0] for tensor in tensors}
        follow = all(out.dim() == 0 or (rows and out.shape[0] in rows) for out in outs)
        # A mean of all rows may hardly change from input to input where that of a few rows does.
        self._number = any(out.dim() == 0 for out in outs)
        whole = self._number and bytes_of(torch, values) <= TRIED_BYTES
        cuts = []
        if not whole and len(rows) == 1 and min(rows) > TRIED_ROWS and follow:
            cuts.append(self._rows)
        if not whole and not list(model.parameters()):
            cuts.append(self._scaled)
        for cut in cuts:
            try:
                self._inputs = cut
                call(torch, model, cut(TRIED_SEED))
                return
            except Exception:
                pass  # what was cut does not go together, in torch's words or in a library's
        self._inputs = self._whole
        if bytes_of(torch, values) > TRIED_BYTES:
            raise Untested("the inputs cannot be cut and are too large to be tried on processors")

    def _whole(self, seed):
        self._torch.manual_seed(seed)
        return list(self._module.get_inputs())

    def _scaled(self, seed):
        self._torch.manual_seed(seed)
        with Light(self._torch, scaled=True):
            return list(self._module.get_inputs())

    def _rows(self, seed):
        torch = self._torch
        values, light = inputs_of(torch, self._module, seed)
        few = []
        for value in values:
            if not isinstance(value, torch.Tensor) or value.dim() == 0:
                few.append(value)
            elif value.device.type == "meta":
                few.append(light.rows(value, TRIED_ROWS))
            else:
                few.append(value[:TRIED_ROWS].clone())
        return few

    def _passes(self, answers, right):
        torch = self._torch
        for answer, one in zip(answers, right):
            if answer.shape != one.shape:
                return False
            if not one.is_floating_point():
                if not bool((answer == one).all()):
                    return False
            elif not torch.allclose(answer.float(), one.float(), rtol=TOLERANCE, atol=TOLERANCE):
                return False
        return True

    def _drawing(self):
        """What makes the answer change, as far as a module says so."""
        dropout = self._torch.nn.modules.dropout._DropoutNd
        live = [
            f"'{path}'"
            for path, part in self._model.named_modules()
            if isinstance(part, dropout) and part.training and part.p > 0
        ]
        return f"dropout is live in {', '.join(live[:5])}" if live else "random numbers in forward"

    def _twice(self, values):
        """The leaves of two calls of one module, whose buffers are as they were and which draws other numbers."""
        torch = self._torch
        model = copy.deepcopy(self._model)
        kept = [
            (part, {name: b if b is None else b.clone() for name, b in part._buffers.items()})
            for part in model.modules()
        ]
        start = time.monotonic()
        with torch.no_grad():
            # What is returned may be what the next call changes.
            right = [out.clone() for out in called(torch, model, copies(torch, values))]
            if time.monotonic() - start > TRIED_SECONDS:
                raise Untested(f"a call takes longer than {TRIED_SECONDS} s on processors")
            for part, own in kept:
                part._buffers.update(own)
            torch.manual_seed(OTHER_SEEDS[0])
            return right, called(torch, model, copies(torch, values))

    def run(self):
        """What passes, in words; empty: nothing does."""
        torch = self._torch
        values = self._inputs(TRIED_SEED)
        right, second = self._twice(values)
        if not self._passes(second, right):
            torch.manual_seed(OTHER_SEEDS[0])
            if self._passes(call(torch, self._model, values), right):
                raise Refused(
                    "Model's answer to the same inputs changes from call to call, by what it keeps beside its "
                    "parameters and buffers"
                )
            raise Refused(
                f"Model's answer to the same inputs changes from call to call ({self._drawing()}); "
                "upstream seeds once, then calls Model and ModelNew in turn, so that not even a copy of Model "
                "gives the answer that is expected of it"
            )
        found = []
        others = [call(torch, self._model, self._inputs(seed)) for seed in OTHER_SEEDS]
        constant = [torch.full_like(one, middle(one)) for one in right]
        if self._passes([torch.zeros_like(one) for one in right], right):
            found.append("zeros")
        # A constant that only these inputs have, such as a sum of all of them, takes the work.
        elif self._passes(constant, right) and any(self._passes(constant, other) for other in others):
            found.append("a constant")
        if any(self._passes(other, right) for other in others):
            found.append("another input's answer")
        for value in [v for v in values if isinstance(v, torch.Tensor)]:
            if len(right) == 1 and value.shape == right[0].shape and value.dtype == right[0].dtype:
                if self._passes([value], right):
                    found.append("a copy of an input")
                    break
        if self._number and not found and self._inputs != self._whole:
            raise Untested("a result is one number, and the inputs are too large to be tried whole on processors")
        return " and ".join(found)


def middle(tensor):
    if tensor.numel() == 0:
        return 0
    if tensor.is_floating_point():
        return (float(tensor.float().min()) + float(tensor.float().max())) / 2
    return int(tensor.flatten().median()) if str(tensor.dtype) != "torch.bool" else bool(tensor.all())


def describe(torch, module):
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, name):
            raise Refused(f"the file defines no {name}")
    torch.manual_seed(SEED)
    init = module.get_init_inputs()
    torch.manual_seed(SEED)
    if isinstance(init, dict):
        raise Refused("get_init_inputs returns a dict, not a list")
    model = module.Model(*init)
    inputs, light = inputs_of(torch, module, SEED)
    signature = list(inspect.signature(model.forward).parameters)
    tensors = Tensors(torch, light)
    answer = {"init": [literal(value) for value in init]}
    answer["inputs"] = []
    for position, value in enumerate(inputs):
        given = signature[position] if position < len(signature) else f"x{position}"
        what = f"input '{given}'"
        if isinstance(value, torch.Tensor):
            answer["inputs"].append(tensors.entry(what, given, value))
        elif isinstance(value, (bool, int, float)):
            answer["inputs"].append(
                {"name": identifier(given, tensors.taken), "value": literal(value)}
            )
        else:
            raise Refused(f"{what} is a {type(value).__name__}, not a tensor or a number")
    groups = (
        ("parameters", "p_", list(model.named_parameters())),
        ("buffers", "b_", list(model.named_buffers())),
    )
    many = len(inputs) + sum(len(named) for _, _, named in groups) > MOST_TENSORS
    for group, prefix, named in groups:
        if many:
            answer[group] = tensors.packed(prefix, named)
            continue
        answer[group] = []
        for path, tensor in named:
            entry = tensors.entry(f"{group[:-1]} '{path}'", prefix + path, tensor)
            entry["path"] = path
            answer[group].append(entry)
    answer["made"] = bool(tensors.undrawable)

    outs, dtypes, written = outputs_of(torch, module, model, inputs)
    for position in written:
        answer["inputs"][position]["written"] = True
    answer["outputs"] = []
    for position, (out, dtype) in enumerate(zip(outs, dtypes)):
        name = "out" if len(outs) == 1 else f"out{position}"
        answer["outputs"].append(tensors.output(f"output {position}", name, out, dtype))

    answer["degenerate"] = answer["untested"] = ""
    try:
        answer["degenerate"] = Trial(torch, module, model, inputs, outs).run()
    except Untested as reason:
        answer["untested"] = str(reason)
    except MemoryError:
        answer["untested"] = "the problem is too large to be tried on processors"
    except RuntimeError as error:
        # Out of memory.
        answer["untested"] = f"a call on processors fails: {str(error)[:200]}"
    return answer


def described():
    import torch

    spec = importlib.util.spec_from_file_location("problem", "problem.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["problem"] = module
    with reading_ends():
        spec.loader.exec_module(module)
    torch.set_grad_enabled(False)
    return describe(torch, module)


print_description(lambda: answer_or_error(described))
