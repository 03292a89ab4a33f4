

def _ksearch_program():
    import inspect

    signature = inspect.signature(run)

    def program(axes, inputs, numbers, outputs):
        try:
            signature.bind(*inputs, *numbers, *outputs)
        except TypeError:
            results = run(*inputs, *numbers)
            return list(results) if isinstance(results, (tuple, list)) else [results]
        run(*inputs, *numbers, *outputs)
        return outputs

    return program


custom_kernel = _ksearch_submission(_ksearch_program())
