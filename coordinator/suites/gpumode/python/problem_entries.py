

# ---- The functions of a problem: as usual, or those that its eval.py calls instead (trace_evaluator.py).
import inspect as _inspect


def maker_of_data(entries, reference):
    return getattr(reference, entries["generate"] if entries else "generate_input")


def seeded(arguments, maker, seed):
    """The arguments of a case with this seed, also where only the function's default has one."""
    try:
        parameters = _inspect.signature(maker).parameters
    except (TypeError, ValueError):
        parameters = {}
    if "seed" in arguments or "seed" in parameters:
        arguments["seed"] = seed
    return arguments


def answering(entries, module, side):
    """data -> result. `side`: "reference" or "submission", which `module` is."""
    if not entries:
        return getattr(module, {"reference": "ref_kernel", "submission": "custom_kernel"}[side])
    calls = [(getattr(module, call[side]), call["arguments"], call["named"]) for call in entries["calls"]]

    def answer(data):
        results = [
            function(*[argument(data, each) for each in arguments], **{key: argument(data, each) for key, each in named})
            for function, arguments, named in calls
        ]
        return results[0] if len(results) == 1 else tuple(results)

    return answer


def argument(data, where):
    """What a call gets: data, a part of it, or what is the same in every call."""
    if "part" in where:
        return data[where["part"]]
    return where["constant"] if "constant" in where else data
