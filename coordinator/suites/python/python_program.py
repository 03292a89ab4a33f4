

def _ksearch_program():
    import inspect

    signature = inspect.signature(run)

    def writes(inputs, outputs):
        try:
            signature.bind(*inputs, *outputs)
        except TypeError:
            return False
        # In place of its outputs it may have parameters with defaults, and then means none.
        behind = list(signature.parameters.values())[len(inputs) :]
        return not behind or any(p.default is p.empty for p in behind)

    def program(axes, inputs, outputs):
        if not writes(inputs, outputs):
            results = run(*inputs)
            return list(results) if isinstance(results, (tuple, list)) else [results]
        run(*inputs, *outputs)
        return outputs

    return program

