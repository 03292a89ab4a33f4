"""Describes a problem made of an nn.Module: problem.py with Model, get_inputs and get_init_inputs.

Runs in a worker's sandbox, once. Prints one line, "ksearch-description: " and a JSON object: either
{"error"} or {"init", "inputs", "parameters", "buffers", "outputs"}. Each tensor is {"name", "dtype",
"shape"} and, but for outputs, "recipe": how values like it are drawn. What cannot be drawn is an error,
never a guess.
"""

import importlib.util
import inspect
import json
import keyword
import math
import re
import sys

SEED = 42
SAMPLE = 20000
FEW = 64
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


class Refused(Exception):
    pass


def dtype_of(torch, what, tensor):
    name = DTYPES.get(str(tensor.dtype))
    if name is None:
        raise Refused(f"{what} has dtype {tensor.dtype}, which no task takes")
    return name


def literal(value):
    """Arguments of the constructor as JSON; a tuple is {"tuple": [...]}."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("an argument of Model is no finite number")
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


def float_recipe(torch, what, tensor):
    values = tensor.detach().double().flatten()
    if not bool(torch.isfinite(values).all()):
        raise Refused(f"{what} holds values that are not finite")
    if values.numel() == 0:
        return {"kind": "normal", "scale": 1.0, "offset": 0.0}
    low, high = float(values.min()), float(values.max())
    if low == high:
        return {"kind": "constant", "offset": low}
    square = tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1] and tensor.shape[0] > 1
    if square and bool((tensor == tensor.t()).all()):
        raise Refused(f"{what} is a symmetric matrix: drawn anew it would be none")
    if values.numel() < FEW:
        return {"kind": "uniform", "scale": high - low, "offset": low}
    step = max(1, values.numel() // SAMPLE)
    sample = values[::step][:SAMPLE]
    if sample.unique().numel() < 0.5 * sample.numel() and tensor.dtype == torch.float32:
        raise Refused(f"{what} repeats its values: drawn anew it would lose its structure")
    if tensor.dim() > 1 and tensor.shape[-1] >= 8:
        rows = tensor.detach().double().sum(dim=-1).flatten()
        if rows.numel() > 1 and float(rows.std()) < 1e-4 * (abs(float(rows.mean())) + 1e-30):
            raise Refused(f"{what} has rows of one sum: drawn anew they would not")
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
    raise Refused(f"{what} holds values that are neither evenly nor normally distributed")


def recipe_of(torch, what, tensor):
    if tensor.is_floating_point():
        return float_recipe(torch, what, tensor)
    if tensor.dtype == torch.bool:
        share = float(tensor.double().mean()) if tensor.numel() else 0.5
        if share == 0:
            return {"kind": "recorded", "values": raw(torch, what, tensor)}
        return {"kind": "bool", "probability": share}
    return {"kind": "recorded", "values": raw(torch, what, tensor)}


def raw(torch, what, tensor):
    """The bytes in hexadecimal digits."""
    if tensor.numel() * tensor.element_size() > 64 << 10:
        raise Refused(f"{what} holds more than 64 KiB of integers, which cannot be drawn")
    return bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()).hex()


def identifier(name, taken):
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not name or name[0].isdigit() or keyword.iskeyword(name):
        name = "x_" + name
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def described(torch, what, name, tensor, with_recipe=True):
    found = {
        "name": name,
        "dtype": dtype_of(torch, what, tensor),
        "shape": list(tensor.shape),
    }
    if with_recipe:
        found["recipe"] = recipe_of(torch, what, tensor)
    return found


def leaves_of(torch, out):
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, (tuple, list)):
        return [leaf for part in out for leaf in leaves_of(torch, part)]
    raise Refused(f"forward returns a {type(out).__name__}, not tensors")


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
    torch.manual_seed(SEED)
    inputs = module.get_inputs()
    signature = list(inspect.signature(model.forward).parameters)
    taken = set()
    answer = {"init": [literal(value) for value in init]}
    answer["inputs"] = []
    for position, value in enumerate(inputs):
        given = signature[position] if position < len(signature) else f"x{position}"
        name = identifier(given, taken)
        what = f"input '{given}'"
        if isinstance(value, torch.Tensor):
            answer["inputs"].append(described(torch, what, name, value))
        elif isinstance(value, (bool, int, float)):
            answer["inputs"].append({"name": name, "value": literal(value)})
        else:
            raise Refused(f"{what} is a {type(value).__name__}, not a tensor or a number")
    for group, prefix, tensors in (
        ("parameters", "p_", model.named_parameters()),
        ("buffers", "b_", model.named_buffers()),
    ):
        answer[group] = []
        for path, tensor in tensors:
            name = identifier(prefix + path, taken)
            entry = described(torch, f"{group[:-1]} '{path}'", name, tensor)
            entry["path"] = path
            answer[group].append(entry)
    with torch.no_grad():
        outs = leaves_of(torch, model(*inputs))
    answer["outputs"] = []
    for position, out in enumerate(outs):
        name = identifier("out" if len(outs) == 1 else f"out{position}", taken)
        answer["outputs"].append(described(torch, f"output {position}", name, out, False))
    return answer


def main():
    try:
        import torch

        spec = importlib.util.spec_from_file_location("problem", "problem.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["problem"] = module
        spec.loader.exec_module(module)
        answer = describe(torch, module)
    except Refused as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": "the problem does not fit into 16 GiB"}
    except BaseException as error:  # whatever the file does
        kind = type(error).__name__
        answer = {"error": f"{kind}: {str(error)[:500]}"}
    text = json.dumps(answer, ensure_ascii=True, allow_nan=False)
    sys.stdout.flush()
    sys.stdout.write("\nksearch-description: " + text + "\n")
    sys.stdout.flush()


main()
