

# ---- Added by ksearch: custom_kernel(data) around a program that takes tensors and numbers one by one.
def _ksearch_submission(program):
    import json

    import torch

    spec = json.loads(bytes.fromhex("@SPEC@").decode("utf-8"))

    def flat(node, value, tensors, numbers):
        if "tensor" in node:
            tensors.append(value)
        elif "number" in node:
            numbers.append(value)
        elif "dict" in node:
            for key, part in node["dict"]:
                flat(part, value if "each" in part else value[key], tensors, numbers)
        elif "each" in node:
            for before, after, _ in node["each"]:
                found = []
                if isinstance(value, dict):
                    while f"{before}{len(found)}{after}" in value:
                        found.append(value[f"{before}{len(found)}{after}"])
                tensors.append(torch.stack(found or list(value)))
        elif "constant" not in node:
            parts = node.get("tuple", node.get("list", []))
            for part, one in zip(parts, [value] if parts and "each" in parts[0] else value):
                flat(part, one, tensors, numbers)

    def nested(node, outputs):
        if "tensor" in node:
            return outputs[node["tensor"]]
        if "constant" in node:
            return node["constant"]
        if "dict" in node:
            return {key: nested(part, outputs) for key, part in node["dict"]}
        parts = [nested(part, outputs) for part in node.get("tuple", node.get("list", []))]
        return tuple(parts) if "tuple" in node else parts

    def as_stored(tensor, entry):
        tensor = tensor.to(getattr(torch, entry["own_dtype"])).permute(entry["order"]).contiguous()
        return tensor.view(getattr(torch, entry["dtype"]))

    def extent(tensors, where):
        return where if isinstance(where, int) else tensors[where[0]].shape[where[1]]

    def custom_kernel(data):
        own, numbers = [], []
        flat(spec["data"], data, own, numbers)
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
        return nested(spec["result"], results)

    return custom_kernel


custom_kernel = _ksearch_submission(_ksearch_program())
