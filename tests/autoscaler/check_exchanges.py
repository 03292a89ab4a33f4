#!/usr/bin/env python3
"""Checks what ksearch-autoscaler says to Kubernetes, and what its test's server answers, against Kubernetes' schemas.

usage: check_exchanges.py SOURCE_FOLDER TEST_PROGRAM SCRATCH_FOLDER

Runs autoscaler_kubernetes_test, which writes down its exchanges, and reads those that record_kubernetes.py recorded
with a real server. Each body must be what Kubernetes' own schemas say of that request (replies of a real server, which
may be newer than these, only of its kind), and the Roles in deploy/kubernetes must allow each request. The schemas come
with the package kubernetes-validate of PyPI, which is installed into SCRATCH_FOLDER. Ends with 77 (skipped) where it
cannot be.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "deploy"))
import check_manifests  # noqa: E402

SKIPPED = 77
# The method and path of each request that the autoscaler may make: the resource, the verb that a Role must allow, the
# kind of its body, and the kinds of a good reply.
DELETE = ("v1", "DeleteOptions")
PAGE = r"&limit=500(&continue=[\w%.-]+)?"
REQUESTS = [
    ("GET", r"/apis/apps/v1/namespaces/\w+/deployments/[\w-]+", "apps", "deployments", "get", None, {"Deployment"}),
    ("PATCH", r"/apis/apps/v1/namespaces/\w+/deployments/[\w-]+/scale", "apps", "deployments/scale", "patch",
     ("autoscaling/v1", "Scale"), {"Scale"}),
    ("GET", r"/apis/apps/v1/namespaces/\w+/deployments/[\w-]+/scale", "apps", "deployments/scale", "get", None,
     {"Scale"}),
    ("GET", r"/api/v1/namespaces/\w+/pods\?labelSelector=[\w%.-]+" + PAGE, "", "pods", "list", None, {"PodList"}),
    ("GET", r"/api/v1/namespaces/\w+/events\?fieldSelector=[\w%.-]+" + PAGE, "", "events", "list", None,
     {"EventList"}),
    ("PATCH", r"/api/v1/namespaces/\w+/pods/[\w-]+", "", "pods", "patch", ("v1", "Pod"), {"Pod"}),
    ("DELETE", r"/api/v1/namespaces/\w+/pods/[\w-]+", "", "pods", "delete", DELETE, {"Pod", "Status"}),
    ("GET", r"/apis/batch/v1/namespaces/\w+/jobs\?labelSelector=[\w%.-]+" + PAGE, "batch", "jobs", "list", None,
     {"JobList"}),
    ("POST", r"/apis/batch/v1/namespaces/\w+/jobs", "batch", "jobs", "create", ("batch/v1", "Job"), {"Job"}),
    ("DELETE", r"/apis/batch/v1/namespaces/\w+/jobs/[\w-]+", "batch", "jobs", "delete", DELETE, {"Job", "Status"}),
]
META = {"Status", "DeleteOptions"}


def validate_meta(body, version):
    """For kinds whose schemas the package has, but does not find by a body's apiVersion."""
    import jsonschema
    import referencing
    from kubernetes_validate import utils

    release = [known for known in utils.all_versions() if utils.major_minor(known) == version][-1]
    folder = f"kubernetes-json-schema/v{release}-local-strict"
    schema = utils.schema_contents(f"{folder}/{body['kind'].lower()}-meta-v1.json", version)
    definitions = utils.schema_contents(f"{folder}/_definitions.json", version)
    registry = referencing.Registry()
    for contents in (schema, definitions):
        registry = referencing.Resource.from_contents(contents) @ registry
    jsonschema.Draft202012Validator(schema, registry=registry).validate(body)


def fault_of(body, version):
    """Why `body` is not what its kind and version say; None: it is."""
    import jsonschema
    import kubernetes_validate

    try:
        if body["kind"] in META:
            validate_meta(body, version)
        else:
            kubernetes_validate.validate(body, version, strict=True)
    except (kubernetes_validate.ValidationError, jsonschema.ValidationError) as fault:
        return f"Kubernetes {version}: {fault}"
    return None


def rules_of(source):
    """The rules of the autoscaler's Role in deploy/kubernetes."""
    import yaml
    rules = []
    for file in sorted((source / "deploy/kubernetes").glob("autoscaler*.yaml")):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if document["kind"] == "Role":
                rules += document["rules"]
    return rules


def check(exchange, rules, fault_in):
    """The faults of one exchange, and how many bodies were looked at."""
    known = [row for row in REQUESTS if row[0] == exchange["method"] and re.fullmatch(row[1], exchange["path"])]
    if len(known) != 1:
        return ["no request that the autoscaler should make"], 0
    _, _, group, resource, verb, body_kind, reply_kinds = known[0]
    faults, bodies = [], 0
    if not any(group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"] for rule in rules):
        faults.append(f"no Role in deploy/kubernetes allows to {verb} {resource}")
    request, reply = exchange["request"], exchange["reply"]
    if (request is None) != (body_kind is None):
        faults.append("a body where there should be none, or none where one should be")
    if exchange["merges"] != (exchange["method"] == "PATCH"):
        faults.append("a patch must say that it is to be merged, and nothing else may")
    if request is not None and body_kind is not None:
        version, kind = body_kind
        if request.get("kind", kind) != kind or request.get("apiVersion", version) != version:
            faults.append(f"the body is a {request.get('kind')}, not a {kind}")
        bodies += 1
        faults += fault_in({"apiVersion": version, "kind": kind, **request})
    expected = reply_kinds if exchange["status"] < 300 else {"Status"}
    if not isinstance(reply, dict) or reply.get("kind") not in expected:
        return faults + [f"the reply is none of {sorted(expected)}"], bodies
    if reply["kind"] == "Status" and exchange["status"] >= 300 and reply.get("code") != exchange["status"]:
        faults.append("the reply's code is not that of HTTP")
    if exchange.get("real"):
        return faults, bodies
    return faults + fault_in(reply), bodies + 1


def recorded(source):
    """The exchanges of the recording, in the form of the test's."""
    for line in (source / "tests/autoscaler/kubernetes_recorded.jsonl").read_text(encoding="utf-8").splitlines():
        step = json.loads(line)
        for exchange in step.get("exchanges", []):
            yield {**exchange, "real": True, "test": f"recorded: {step['step']}",
                   "merges": "merge-patch" in exchange.get("content_type", "")}


def main():
    source, program, scratch = (pathlib.Path(argument) for argument in sys.argv[1:4])
    scratch.mkdir(parents=True, exist_ok=True)
    why_not = check_manifests.install(scratch)
    if why_not is not None:
        print(f"skipped: kubernetes-validate cannot be installed: {why_not}")
        return SKIPPED
    file = scratch / "exchanges.jsonl"
    file.unlink(missing_ok=True)
    subprocess.run([program], env={**os.environ, "KSEARCH_EXCHANGES": str(file)}, check=True,
                   stdout=subprocess.DEVNULL)
    rules = rules_of(source)
    faults, bodies, seen = [], 0, set()

    def fault_in(body):
        found = [fault_of(body, version) for version in check_manifests.KUBERNETES_VERSIONS]
        return [fault for fault in found if fault is not None]

    exchanges = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for exchange in exchanges + list(recorded(source)):
        found, count = check(exchange, rules, fault_in)
        bodies += count
        seen |= {row[:2] for row in REQUESTS
                 if row[0] == exchange["method"] and re.fullmatch(row[1], exchange["path"])}
        faults += [f"{exchange['test']}: {exchange['method']} {exchange['path']}: {fault}" for fault in found]
    faults += [f"{method} {path}: the test has no such request" for method, path, *_ in REQUESTS
               if (method, path) not in seen]
    print("\n".join(faults))
    print(f"{bodies} bodies checked, {len(faults)} faults")
    return 1 if faults or bodies < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
