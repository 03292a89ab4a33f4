

# ---- The functions of a problem: as usual, or those that its eval.py calls instead (trace_evaluator.py).
def maker_of_data(entries, reference):
    return getattr(reference, entries["generate"] if entries else "generate_input")


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
