#!/usr/bin/env python3
"""Checks deploy/kubernetes against Kubernetes' own schemas, and the configurations in it against ksearch's.

usage: check_manifests.py SOURCE_FOLDER SCRATCH_FOLDER

The schemas come with the package kubernetes-validate of PyPI, which is installed into SCRATCH_FOLDER. Ends with 77
(skipped) where it cannot be.
"""
import json
import pathlib
import subprocess
import sys

SKIPPED = 77
KUBERNETES_VERSIONS = ["1.29", "1.33"]
# By the name of a configuration in a ConfigMap.
MESSAGES = {
    "coordinator.textproto": ("ksearch.v1.CoordinatorConfig", "config"),
    "worker.textproto": ("ksearch.v1.WorkerConfig", "config"),
    "autoscaler.textproto": ("ksearch.v1.AutoscalerConfig", "autoscaler"),
}


def install(scratch):
    """Makes the validator importable; says why not."""
    target = scratch / "kubernetes_validate"
    if not (target / "kubernetes_validate").exists():
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), "kubernetes-validate==1.37.0"],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    sys.path.insert(0, str(target))
    return None


def configurations(document):
    """Names and texts of what a ConfigMap holds."""
    return document.get("data", {}).items() if document.get("kind") == "ConfigMap" else []


def main():
    source, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    why_not = install(scratch)
    if why_not is not None:
        print(f"skipped: kubernetes-validate cannot be installed: {why_not}")
        return SKIPPED
    import kubernetes_validate
    import yaml

    faults, checked, configured = [], 0, 0
    files = sorted((source / "deploy/kubernetes").glob("*.yaml")) + [source / "deploy/kubernetes/worker_job.json"]
    for file in files:
        text = file.read_text(encoding="utf-8")
        documents = [json.loads(text)] if file.suffix == ".json" else list(yaml.safe_load_all(text))
        for document in documents:
            name = f"{file.name}: {document['kind']}/{document['metadata']['name']}"
            if document["apiVersion"].startswith("keda.sh/"):
                continue  # an extension: Kubernetes has no schema for it
            for version in KUBERNETES_VERSIONS:
                try:
                    kubernetes_validate.validate(document, version, strict=True)
                    checked += 1
                except kubernetes_validate.ValidationError as error:
                    faults.append(f"{name}, Kubernetes {version}: {error}")
            for key, value in configurations(document):
                message, proto = MESSAGES[key]
                encoded = subprocess.run(
                    ["protoc", f"--encode={message}", "-I", str(source), str(source / f"proto/{proto}.proto")],
                    input=value.encode(), capture_output=True, check=False)
                configured += 1
                if encoded.returncode != 0:
                    faults.append(f"{name}, {key}: {encoded.stderr.decode().strip()}")
    print("\n".join(faults))
    print(f"{checked} documents and {configured} configurations checked, {len(faults)} faults")
    return 1 if faults or checked < 20 or configured < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
