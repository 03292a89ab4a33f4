

def _ksearch_program():
    import inspect

    signature = inspect.signature(run)

    def program(axes, inputs, outputs):
        try:
            signature.bind(*inputs, *outputs)
        except TypeError:
            results = run(*inputs)
            return list(results) if isinstance(results, (tuple, list)) else [results]
        run(*inputs, *outputs)
        return outputs

    return program

