

# ---- Added by ksearch: custom_kernel(data) around a program that takes tensors and numbers one by one.
def _ksearch_submission(program):
    import json

    import torch

    spec = json.loads(bytes.fromhex("@SPEC@").decode("utf-8"))

@NESTED_VALUES@
    def as_stored(tensor, entry):
        tensor = tensor.to(getattr(torch, entry["own_dtype"])).permute(entry["order"]).contiguous()
        return tensor.view(getattr(torch, entry["dtype"]))

    def extent(tensors, where):
        return where if isinstance(where, int) else tensors[where[0]].shape[where[1]]

    def custom_kernel(data):
        flat = Flat(spec["data"], data)
        own, numbers = flat.tensors, flat.numbers
        tensors = [as_stored(tensor, entry) for tensor, entry in zip(own, spec["inputs"])]
        inputs = [tensor for tensor, entry in zip(tensors, spec["inputs"]) if entry["output"] < 0]
        places = {entry["output"]: i for i, entry in enumerate(spec["inputs"])}
        outputs = []
        for i, entry in enumerate(spec["outputs"]):
            if i in places:
                outputs.append(tensors[places[i]])
                continue
            shape = [extent(tensors, where) for where in spec["output_shapes"][i]]
            dtype = getattr(torch, entry["dtype"])
            outputs.append(torch.empty(shape, dtype=dtype, device=own[0].device))
        axes = [extent(tensors, where) for where in spec["axes"]]
        outputs = program(axes, [*inputs, *numbers], outputs)
        results = []
        for i, (output, entry) in enumerate(zip(outputs, spec["outputs"])):
            result = output.view(getattr(torch, entry["own_dtype"]))
            order = spec["inputs"][places[i]]["order"] if i in places else list(range(result.dim()))
            results.append(result.permute([order.index(k) for k in range(len(order))]))
        if "in" in spec["result"]:
            for place, result in zip(written_in(spec["result"], spec["data"], data), results):
                if place.data_ptr() != result.data_ptr():
                    place.copy_(result)
            return None
        return rebuilt(spec["result"], results, [])

    return custom_kernel


custom_kernel = _ksearch_submission(_ksearch_program())
