"""The whole task, as `ksearch task new` reads it."""

import inspect
import os
import statistics

from ksearch_trace.extents import Extents
from ksearch_trace.figures import flops_formula, product, tolerance_of
from ksearch_trace.inputs import NUMBER, TENSOR, axes_text
from ksearch_trace.refused import Refused
from ksearch_trace.user_file import result_names
from ksearch_trace.workloads import choose_workloads, uuid_of

# Small sizes to try, all different so that it shows which extent is which axis.
SMALL = ((7, 11, 13, 17, 19, 23, 29, 31), (3, 2, 5, 11, 7, 17, 13, 19))


def describe(name, traced, given):
    first = traced.inputs.of(given[0])
    traced.has_floats = any(
        kind == TENSOR and getattr(traced.torch, dtype).is_floating_point
        for _, kind, _, dtype in first
    )
    if not first:
        raise Refused(f"{traced.line} has no argument that could be an input")
    for axes in given:
        traced.try_call(axes)  # says what is wrong with what was asked for
    chosen = choose_workloads(traced, given)
    facts = [traced.measure(axes) for axes, _ in chosen]
    traced.check_import(given[0])
    if traced.has_floats:
        traced.check_precision(given[0])

    probes = [(axes, traced.try_call(axes)) for axes, _ in chosen]
    for primes in SMALL:
        axes = dict(zip(given[0], primes))
        shapes = traced.takes(axes) if len(axes) == len(given[0]) else None
        if shapes:
            probes.append((axes, shapes))
        else:
            traced.assumed.append(f"the function does not take {axes_text(axes)}")
    if len({tuple(len(shape) for shape in shapes) for _, shapes in probes}) > 1:
        raise Refused(f"{traced.line}: the number of dimensions of a tensor depends on the axes")

    tensors = [entry for entry in first if entry[1] == TENSOR]
    output_dtypes = facts[0]["dtypes"]
    if any(f["dtypes"] != output_dtypes for f in facts):
        raise Refused(f"{traced.line}: the dtype of a result depends on the axes")
    input_names = [entry[0] for entry in first]
    for axis in given[0]:
        if axis in input_names:
            raise Refused(
                f"--shapes: '{axis}' is an argument of {traced.function_name}, choose another name"
                " for the axis"
            )
    outputs = result_names(traced.function, len(output_dtypes), input_names + list(given[0]))
    extents = Extents(probes, input_names + outputs, traced.assumed)
    all_tensors = [(entry[0], entry[3]) for entry in tensors] + list(zip(outputs, output_dtypes))
    shapes = {
        name: [extents.name(name, index, d) for d in range(len(probes[0][1][index]))]
        for index, (name, _) in enumerate(all_tensors)
    }
    for axis in given[0]:
        if axis not in extents.used:
            raise Refused(
                f"--shapes: no dimension of an input or result is '{axis}', so workloads cannot"
                " vary it"
            )

    def spec(name, dtype, scalar=False):
        return {"shape": None if scalar else shapes[name], "dtype": dtype}

    workloads = []
    for index, (axes, _) in enumerate(chosen):
        recipes = {}
        for tensor, kind, what, _ in traced.inputs.of(axes):
            recipes[tensor] = (
                traced.inputs.recipes[tensor]
                if kind == TENSOR
                else {"type": "scalar", "value": what}
            )
        workload = {"uuid": uuid_of(axes), "axes": extents.of_probe(index), "inputs": recipes}
        workloads.append(
            {"definition": name, "solution": None, "workload": workload, "evaluation": None}
        )

    tolerance, notes = tolerance_of(traced.torch, output_dtypes, facts, traced.assumed)
    work = {
        "bytes": " + ".join(
            product(traced.inputs.width(dtype), shapes[tensor]) for tensor, dtype in all_tensors
        )
    }
    counts = [traced.flops(axes) for axes, _ in chosen]
    if None in counts:
        traced.assumed.append(
            f"operations are left out: torch {traced.torch.__version__} does not count them (2.1"
            " and later do)"
        )
    elif not any(counts):
        traced.assumed.append(
            "operations are left out: torch counts those of matrix products and convolutions only"
        )
    else:
        formula = flops_formula(counts, [extents.of_probe(i) for i in range(len(chosen))])
        if formula:
            work["flops"] = formula
        else:
            traced.assumed.append("operations are left out: torch's counts are not a product of axes")
    seconds = [f["seconds"] for f in facts]
    traced.assumed.append(
        f"one call of the function takes {1e3 * min(seconds):.2g} to {1e3 * max(seconds):.2g} ms"
        f" here (median {1e3 * statistics.median(seconds):.2g} ms); sizes of 0.1 to 30 ms are"
        " timed best"
    )
    constraints = [
        f"{name} is always {value!r}" for name, value in traced.inputs.kept_defaults.items()
    ]
    for text in constraints:
        traced.assumed.append(f"{text}: it is not an input of the task")
    documentation = (inspect.getdoc(traced.function) or "").strip().split("\n")[0]
    return {
        "function": traced.function_name,
        "is_program": (
            traced.function_name == "run"
            and [
                name
                for name, parameter in inspect.signature(traced.function).parameters.items()
                if parameter.kind == parameter.POSITIONAL_OR_KEYWORD
            ]
            == list(inspect.signature(traced.function).parameters)
            == input_names
        ),
        "returns_tuple": traced.returns_tuple,
        "title": documentation or f"{traced.function_name} of {os.path.basename(traced.path)}",
        "definition": {
            "name": name,
            "op_type": traced.function_name,
            "description": documentation,
            "axes": extents.definition,
            "inputs": {name: spec(name, dtype, kind == NUMBER) for name, kind, _, dtype in first},
            "outputs": {name: spec(name, dtype) for name, dtype in zip(outputs, output_dtypes)},
            "constraints": constraints,
        },
        "workloads": workloads,
        "held_out": [uuid_of(axes) for axes, held_out in chosen if held_out],
        "tolerance": tolerance,
        "work": work,
        "notes": notes,
        "assumed": list(dict.fromkeys(traced.assumed)),
    }
