#!/usr/bin/env python3
"""Makes a data set of FlashInfer-Bench of definitions, workloads and kernels that were published as files.

  flashinfer_dataset.py PACK OUT [--workloads N]

PACK has definitions/ and workloads/ as the public data set has them, without its blobs, and
results/**/DEFINITION/<author>_best_*.{cpp,cu,h}, kernels as K-Search publishes them, its own and its rivals'.
OUT gets N workloads of each definition, spread over all; for every recorded tensor of those a stand-in of
the same shape and kind (offsets that end at the right total, distinct pages, normal logits); and for every
kernel a solution with the binding `torch`, of the published files as they are. Where a file includes its header
under a name that it does not have, the header is there under that name, too. A kernel that returns a map by
names, which no released evaluator takes, is there a second time, with a function in Python around it that
returns the map's values in order.
"""
import argparse
import glob
import json
import os
import re
import struct

import numpy

DTYPES = {"int32": ("I32", numpy.int32), "float32": ("F32", numpy.float32), "bfloat16": ("BF16", None)}
AUTHORS = {"ksearch": "k-search", "oe": "openevolve", "openevolve": "openevolve", "shinka": "shinkaevolve"}
BY_NAME = '''import os

from torch.utils import cpp_extension

_module = []


def load():
    if not _module:
        folder = os.path.dirname(os.path.abspath(__file__))
        _module.append(cpp_extension.load(name="{name}", sources=[os.path.join(folder, f) for f in {sources}],
                                          extra_include_paths=[folder]))
    return _module[0]


def run({arguments}):
    results = load().run({arguments})
    return {results}
'''


def split(rng, total, parts, least):
    """`parts` numbers of at least `least` that add up to total."""
    extra = total - least * parts
    assert extra >= 0, (total, parts, least)
    return least + rng.multinomial(extra, numpy.full(parts, 1 / parts))


def offsets(lengths):
    return numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int32)


def recorded(rng, name, shape, dtype, axes, made):
    """Returns a stand-in for a recorded tensor; `made` are the earlier ones, by name."""
    if name == "qo_indptr":
        return offsets(split(rng, axes["total_q"], axes["len_indptr"] - 1, 1))
    if name == "kv_indptr":
        parts = axes["len_indptr"] - 1
        own = numpy.diff(made["qo_indptr"]) if "qo_indptr" in made else numpy.ones(parts, dtype=numpy.int64)
        return offsets(own + split(rng, axes["num_kv_indices"] - int(own.sum()), parts, 0))
    if name == "kv_indices":
        return rng.permutation(axes["num_pages"])[: axes["num_kv_indices"]].astype(numpy.int32)
    values = rng.standard_normal(shape).astype(numpy.float32)
    if dtype != "bfloat16":
        return values
    return (values.view(numpy.uint32) >> 16).astype(numpy.uint16)


def write_safetensors(path, tensors):
    header, end = {}, 0
    for name, (kind, values) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [end, end + values.nbytes]}
        end += values.nbytes
    text = json.dumps(header).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for _, values in tensors.values():
            file.write(values.tobytes())


def add_blobs(out, definition, line):
    workload = line["workload"]
    constants = {name: axis["value"] for name, axis in definition["axes"].items() if axis["type"] == "const"}
    axes = {**constants, **workload["axes"]}
    rng = numpy.random.default_rng(int(re.sub(r"\W", "", workload["uuid"])[:12], 16))
    made, files = {}, {}
    for name, spec in workload["inputs"].items():
        if spec["type"] != "safetensors":
            continue
        tensor = definition["inputs"][name]
        shape = [axes[axis] for axis in tensor["shape"]]
        made[name] = recorded(rng, name, shape, tensor["dtype"], axes, made)
        assert list(made[name].shape) == shape, (name, made[name].shape, shape)
        files.setdefault(spec["path"], {})[spec["tensor_key"]] = (DTYPES[tensor["dtype"]][0], made[name])
    for path, tensors in files.items():
        write_safetensors(os.path.join(out, path), tensors)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)


def kernels(folder):
    """{author: {file name: text}} of a folder of published kernels."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*_best_*"))):
        name = os.path.basename(path)
        found.setdefault(name.split("_", 1)[0], {})[name] = read(path)
    return found


def add_solutions(out, definition, author, files):
    texts = dict(files)
    headers = [text for name, text in files.items() if name.endswith(".h")]
    for text in files.values():
        for included in re.findall(r'^#include "([\w.]+)"', text, re.MULTILINE):
            if included not in texts and len(headers) == 1:
                texts[included] = headers[0]
    main = next(name for name in files if name.endswith(".cpp"))
    name = f"{AUTHORS.get(author, author)}_{main.rsplit('_best_', 1)[1][:-4]}"
    solution = {
        "name": name, "definition": definition["name"], "author": AUTHORS.get(author, author),
        "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": f"{main}::run",
                 "dependencies": [], "destination_passing_style": False, "binding": "torch"},
        "sources": [{"path": path, "content": text} for path, text in texts.items()]}
    folder = os.path.join(out, "solutions", solution["author"], definition["op_type"], definition["name"])
    write_json(os.path.join(folder, name + ".json"), solution)
    if not re.search(r"std::(unordered_)?map<std::string, *(torch|at)::Tensor>", files[main]):
        return [name]
    compiled = [path for path in texts if path.endswith((".cpp", ".cu"))]
    wrapped = f"{name}_values"
    main_text = BY_NAME.format(
        name=re.sub(r"\W", "_", wrapped), sources=compiled, arguments=", ".join(definition["inputs"]),
        results=", ".join(f'results["{output}"]' for output in definition["outputs"]))
    solution = {
        **solution, "name": wrapped,
        "spec": {"language": "python", "target_hardware": ["cuda"], "entry_point": "main.py::run",
                 "dependencies": [], "destination_passing_style": False},
        "sources": [{"path": "main.py", "content": main_text}, *solution["sources"]]}
    write_json(os.path.join(folder, wrapped + ".json"), solution)
    return [name, wrapped]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack")
    parser.add_argument("out")
    parser.add_argument("--workloads", type=int, default=6)
    options = parser.parse_args()
    for path in sorted(glob.glob(os.path.join(options.pack, "definitions", "*", "*.json"))):
        definition = json.loads(read(path))
        place = (definition["op_type"], definition["name"])
        write_json(os.path.join(options.out, "definitions", place[0], place[1] + ".json"), definition)
        lines = [json.loads(line) for line in
                 read(os.path.join(options.pack, "workloads", place[0], place[1] + ".jsonl")).splitlines()]
        size = {"moe": "seq_len"}.get(place[0], "num_kv_indices")
        lines.sort(key=lambda line: line["workload"]["axes"].get(size, 0))
        count = min(options.workloads, len(lines))
        # Sorted from the smallest to the largest.
        chosen = sorted({round(i * (len(lines) - 1) / max(1, count - 1)) for i in range(count)})
        target = os.path.join(options.out, "workloads", place[0], place[1] + ".jsonl")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            for index in chosen:
                file.write(json.dumps(lines[index]) + "\n")
                add_blobs(options.out, definition, lines[index])
        names = []
        for folder in glob.glob(os.path.join(options.pack, "results", "**", place[1]), recursive=True):
            for author, files in kernels(folder).items():
                names += add_solutions(options.out, definition, author, files)
        print(f"{place[1]}: {len(chosen)} of {len(lines)} workloads; {' '.join(names)}")


if __name__ == "__main__":
    main()
