#!/usr/bin/env python3
"""Records what ksearch-autoscaler's provider and a real Kubernetes API server say to each other.

usage: record_kubernetes.py --server https://HOST:PORT --token-file FILE --ca-file FILE
                            --steps build/dev/tests/kubernetes_steps [--out kubernetes_recorded.jsonl]

The cluster needs an API server with RBAC, a controller manager and a scheduler, and the token the rights of
cluster-admin. It must have no namespace `ksearch` and nothing else that matters: this makes a node with two GPUs and
plays its kubelet, as no program has to run. Applies deploy/kubernetes (first as a dry run of the server), leads the
provider through growing, shrinking, quotas, denied Roles and other people's changes with the shipped service account,
and writes the exchanges, one step a line. Left out: tokens, the server's address, managedFields. In the end the
namespace and the node are deleted.
"""
import argparse
import contextlib
import http.client
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import yaml

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
NAMESPACE = "ksearch"
NODE = "recorded-node-1"
MERGE = "application/merge-patch+json"
MOST_BYTES = 1 << 20
DEPLOYMENT = "/apis/apps/v1/namespaces/ksearch/deployments/ksearch-worker"
PODS = "/api/v1/namespaces/ksearch/pods"
JOBS = "/apis/batch/v1/namespaces/ksearch/jobs"
QUOTAS = "/api/v1/namespaces/ksearch/resourcequotas"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/ksearch/rolebindings"
PLURALS = {"NetworkPolicy": "networkpolicies"}


def collection_of(document):
    """The path to which an object of a manifest is posted."""
    version, kind = document["apiVersion"], document["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    name = PLURALS.get(kind, kind.lower() + "s")
    return f"{root}/{name}" if kind in ("Namespace", "Node") else f"{root}/namespaces/{NAMESPACE}/{name}"


def without_managed_fields(value):
    if isinstance(value, list):
        return [without_managed_fields(one) for one in value]
    if isinstance(value, dict):
        return {name: without_managed_fields(one) for name, one in value.items() if name != "managedFields"}
    return value


class Server:
    """The API server."""

    def __init__(self, url, ca_file):
        self.address = urllib.parse.urlsplit(url)
        self.context = ssl.create_default_context(cafile=ca_file)

    def send(self, method, path, body, headers):
        connection = http.client.HTTPSConnection(self.address.hostname, self.address.port, context=self.context,
                                                 timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()


class Admin:
    """Does what other people, nodes and the cluster's administrator do."""

    def __init__(self, server, token):
        self.server, self.token = server, token

    def call(self, method, path, body=None, content_type="application/json", may_fail=()):
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        status, text = self.server.send(method, path, None if body is None else json.dumps(body), headers)
        reply = json.loads(text)
        if status >= 300 and status not in may_fail:
            raise RuntimeError(f"{method} {path}: {status}, {reply.get('message')}")
        return reply

    def pods(self, selector):
        return self.call("GET", f"{PODS}?labelSelector={selector}")["items"]

    def wait(self, what, condition, seconds=90):
        until = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > until:
                raise RuntimeError(f"in vain waited for: {what}")
            time.sleep(0.3)


class Node:
    """A node without a machine: its heart beats, and pods on it are in the state that a scenario wants."""

    def __init__(self, admin):
        self.admin, self.gone = admin, threading.Event()
        self.admin.call("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": NODE, "labels": {"nvidia.com/gpu.product": "NVIDIA-H200"}}})
        self.beat()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.admin.wait("a node that is ready", lambda: not self.admin.call(
            "GET", f"/api/v1/nodes/{NODE}")["spec"].get("taints"))

    def beat(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        room = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti", "nvidia.com/gpu": "2"}
        self.admin.call("PATCH", f"/api/v1/nodes/{NODE}/status", {"status": {
            "capacity": room, "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now,
                            "lastTransitionTime": now}]}}, MERGE)

    def run(self):
        while not self.gone.wait(5):
            self.beat()

    def set_state(self, pod, phase, container_state):
        """Sets a pod's status as the kubelet does."""
        container = pod["spec"]["containers"][0]
        ready = phase == "Running"
        self.admin.call("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": {
            "phase": phase,
            "conditions": [{"type": "PodScheduled", "status": "True"},
                           {"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [{
                "name": container["name"], "image": container["image"], "imageID": "", "ready": ready,
                "restartCount": 0, "started": ready, "state": container_state}]}}, MERGE)

    def start_pods(self, selector, count):
        """Waits until the scheduler has placed pods here, and has them run."""
        def placed():
            pods = [pod for pod in self.admin.pods(selector) if pod["spec"].get("nodeName") == NODE
                    and pod["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in pod["metadata"]]
            return pods if len(pods) >= count else None
        for pod in self.admin.wait(f"{count} pods on the node", placed):
            self.set_state(pod, "Running", {"running": {"startedAt": "2026-01-01T00:00:00Z"}})

    def finish_deleted(self, selector):
        """Pods that were told to end have ended."""
        for pod in self.admin.pods(selector):
            if "deletionTimestamp" in pod["metadata"]:
                self.force_away(pod)

    def force_away(self, pod):
        self.admin.call("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0}, may_fail=(404,))

    def remove(self):
        self.gone.set()
        self.thread.join()
        self.admin.call("DELETE", f"/api/v1/nodes/{NODE}", may_fail=(404,))


class Recorder:
    """Lies between the provider and the server, and writes down what passes."""

    def __init__(self, server):
        self.server, self.exchanges, self.before = server, [], None
        recorder = self

        class Relay(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def relay(self):
                recorder.relay(self)

            do_GET = do_POST = do_PATCH = do_DELETE = relay

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def relay(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if self.before is not None:
            self.before(request.command, request.path)
        headers = {name: request.headers[name] for name in ("Authorization", "Accept", "Content-Type")
                   if request.headers.get(name)}
        status, reply = self.server.send(request.command, request.path, body or None, headers)
        exchange = {"method": request.command, "path": request.path}
        if body:
            exchange["content_type"] = request.headers["Content-Type"]
        exchange.update(request=json.loads(body) if body else None, status=status,
                        reply=without_managed_fields(json.loads(reply)))
        self.exchanges.append(exchange)
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(reply)))
        request.end_headers()
        request.wfile.write(reply)


class Recording:
    """Scenarios, and the lines of the file."""

    def __init__(self, admin, node, recorder, program, folder):
        self.admin, self.node, self.recorder = admin, node, recorder
        self.program, self.folder, self.lines = program, folder, []
        self.process = None

    @contextlib.contextmanager
    def scenario(self, name, pool, job_template=None):
        print(f"== {name}", flush=True)
        self.lines.append({"scenario": name, "pool": pool, "job_template": job_template})
        text = pool + f'\nkubernetes {{ name_space: "{NAMESPACE}" api_server: "{self.recorder.url()}" ' \
                      f'token_file: "{self.folder}/token"'
        if job_template is None:
            text += ' deployment: "ksearch-worker" }\n'
        else:
            (self.folder / "job.json").write_text(json.dumps(job_template), encoding="utf-8")
            text += f' job_template: "{self.folder}/job.json" }}\n'
        (self.folder / "pool.textproto").write_text(text, encoding="utf-8")
        with subprocess.Popen([self.program, str(self.folder / "pool.textproto")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as self.process:
            yield self
            self.process.stdin.close()

    def do(self, step):
        self.recorder.exchanges = []
        self.process.stdin.write(step + "\n")
        self.process.stdin.flush()
        outcome = json.loads(self.process.stdout.readline())
        self.lines.append({"step": step, "outcome": outcome, "exchanges": self.recorder.exchanges})
        said = [f"{one['method']} {one['path'].split('?')[0].split('/', 5)[-1]} {one['status']}"
                for one in self.recorder.exchanges]
        print(f"{step}: {json.dumps(outcome)[:600]}  [{'; '.join(said)}]", flush=True)
        return outcome

    def list_until(self, what, condition):
        """Lists once the cluster is as far as `condition` of a list's outcome wants; records that list alone."""
        until = time.monotonic() + 90
        while True:
            kept = len(self.lines)
            outcome = self.do("list")
            if condition(outcome):
                return outcome
            if time.monotonic() > until:
                raise RuntimeError(f"in vain waited for: {what}")
            del self.lines[kept:]
            time.sleep(0.5)


def states(outcome):
    return sorted(one["state"] for one in outcome.get("instances", []))


def make_quota(admin, name, hard):
    admin.call("POST", QUOTAS, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name},
                                "spec": {"hard": hard}})
    admin.wait("a quota that is counted", lambda: admin.call("GET", f"{QUOTAS}/{name}")["status"].get("used"))


@contextlib.contextmanager
def quota(admin, name, hard):
    make_quota(admin, name, hard)
    yield
    admin.call("DELETE", f"{QUOTAS}/{name}")


@contextlib.contextmanager
def without_bindings(admin, names):
    bindings = [admin.call("GET", f"{BINDINGS}/{name}") for name in names]
    for name in names:
        admin.call("DELETE", f"{BINDINGS}/{name}")
    time.sleep(2)  # the server's authorizer learns of it
    yield
    for binding in bindings:
        admin.call("POST", BINDINGS, {**binding, "metadata": {"name": binding["metadata"]["name"]}})
    time.sleep(2)


POOL = 'name: "h200" most: 4 coordinator_for_workers: "ksearch-coordinator.ksearch.svc:7400"'
SELECTOR = "app%3Dksearch-worker"
JOB_PODS = "ksearch-pool%3Dh200"


def record_deployment(recording):
    admin, node = recording.admin, recording.node
    with recording.scenario("deployment_grows_and_shrinks", POOL) as its:
        its.do("list")
        its.do("start 3")
        its.list_until("a pod too many", lambda outcome: "Insufficient nvidia.com/gpu" in json.dumps(outcome))
        node.start_pods(SELECTOR, 2)
        listed = its.list_until("two that run", lambda outcome: states(outcome) == ["pending", "running", "running"])
        waits = [one["state"] for one in listed["instances"]].index("pending")
        its.do(f"stop {waits}")
        listed = its.list_until("one fewer", lambda outcome: states(outcome) == ["running", "running"])
        its.do("stop 1")
        left = its.list_until("one that is told to end", lambda outcome: states(outcome) == ["running"])
        assert left["instances"][0]["id"] == listed["instances"][0]["id"], "the wrong one was deleted"
        its.do("start 1")
        node.finish_deleted(SELECTOR)
        node.start_pods(SELECTOR, 2)
        its.list_until("two again", lambda outcome: states(outcome) == ["running", "running"])
        its.do("start 20")
        its.do("withdraw 20")
        its.list_until("no more than there are pods", lambda outcome: outcome["coming"] == 0)
    with recording.scenario("deployment_image_that_cannot_be_pulled", POOL) as its:
        listed = its.list_until("pods", lambda outcome: outcome["instances"])
        pod = admin.call("GET", f"{PODS}/{listed['instances'][-1]['id']}")
        node.set_state(pod, "Pending", {"waiting": {
            "reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/ksearch-worker:0.1.0"'}})
        listed = its.list_until("a failed one", lambda outcome: "failed" in states(outcome))
        its.do(f"kill {[one['state'] for one in listed['instances']].index('failed')}")
        its.list_until("none that failed", lambda outcome: "failed" not in states(outcome))
    with recording.scenario("deployment_quota", POOL) as its:
        with quota(admin, "pods", {"pods": str(len(admin.pods(SELECTOR)) + 1)}):
            # Other pods of the namespace count, too.
            its.do("start 4")
            listed = its.list_until("a pod that is refused", lambda outcome: "exceeded quota" in outcome["fault"])
            its.do(f"withdraw {listed['coming']}")
            its.list_until("none to come", lambda outcome: outcome["coming"] == 0)
    with recording.scenario("deployment_that_others_change", POOL) as its:
        changes = []

        def interfere(method, path):
            if method == "PATCH" and path.endswith("/scale") and len(changes) < 2:
                changes.append(path)
                admin.call("PATCH", DEPLOYMENT, {"metadata": {"annotations": {"someone": f"was here {len(changes)}"}}},
                           MERGE)
        recording.recorder.before = interfere
        its.do("start 1")
        recording.recorder.before = lambda method, path: changes.append(path) if method != "PATCH" else admin.call(
            "PATCH", DEPLOYMENT, {"metadata": {"annotations": {"someone": f"was here {time.monotonic_ns()}"}}}, MERGE)
        its.do("start 1")
        recording.recorder.before = None
        listed = its.do("list")
        victim = listed["instances"][0]["id"]
        admin.call("DELETE", f"{PODS}/{victim}", {"gracePeriodSeconds": 0})
        its.do("stop 0")
    with recording.scenario("deployment_denied", POOL) as its:
        with without_bindings(admin, ["ksearch-autoscaler", "ksearch-autoscaler-jobs"]):
            its.do("list")
            its.do("start 1")
    token = (recording.folder / "token").read_text(encoding="utf-8")
    with recording.scenario("deployment_with_a_token_that_is_none", POOL) as its:
        (recording.folder / "token").write_text("not-a-token", encoding="utf-8")
        its.do("list")
    (recording.folder / "token").write_text(token, encoding="utf-8")
    with recording.scenario("deployment_that_is_deleted", POOL) as its:
        admin.call("DELETE", DEPLOYMENT)
        its.do("list")
        its.do("start 1")
    for pod in admin.pods(SELECTOR):
        node.force_away(pod)


def record_jobs(recording):
    admin, node = recording.admin, recording.node
    template = json.loads((SOURCE / "deploy/kubernetes/worker_job.json").read_text(encoding="utf-8"))
    with recording.scenario("jobs_start_and_end", POOL, template) as its:
        its.do("list")
        its.do("start 3")
        its.list_until("a pod too many", lambda outcome: "Insufficient nvidia.com/gpu" in json.dumps(outcome))
        node.start_pods(JOB_PODS, 2)
        listed = its.list_until("two that run", lambda outcome: states(outcome) == ["pending", "running", "running"])
        its.do(f"stop {[one['state'] for one in listed['instances']].index('pending')}")
        listed = its.list_until("one fewer", lambda outcome: states(outcome) == ["running", "running"])
        its.do("stop 0")
        its.do("list")
        admin.wait("a pod that is told to end", lambda: any(
            "deletionTimestamp" in pod["metadata"] for pod in admin.pods(JOB_PODS)))
        node.finish_deleted(JOB_PODS)
        # The other one leaves by itself.
        pod = admin.pods(JOB_PODS)[0]
        node.set_state(pod, "Succeeded", {"terminated": {"exitCode": 0, "reason": "Completed"}})
        its.list_until("none", lambda outcome: outcome["instances"] == [])
    with recording.scenario("jobs_whose_pods_go_wrong", POOL, template) as its:
        its.do("start 2")
        node.start_pods(JOB_PODS, 2)
        listed = its.list_until("two that run", lambda outcome: states(outcome) == ["running", "running"])
        pods = [pod for pod in admin.pods(JOB_PODS) if pod["status"]["phase"] == "Running"]
        node.set_state(pods[0], "Pending", {"waiting": {
            "reason": "ErrImagePull", "message": "failed to pull and unpack image: not found"}})
        listed = its.list_until("a failed one", lambda outcome: states(outcome) == ["failed", "running"])
        its.do(f"kill {[one['state'] for one in listed['instances']].index('failed')}")
        node.force_away(pods[1])  # somebody deletes the other one's pod
        its.list_until("none", lambda outcome: outcome["instances"] == [])
        for pod in admin.pods(JOB_PODS):
            node.force_away(pod)
    with recording.scenario("jobs_without_pods", POOL, template) as its:
        with quota(admin, "pods", {"pods": str(len(admin.call("GET", PODS)["items"]))}):
            its.do("start 1")
            its.list_until("why there is no pod", lambda outcome: "exceeded quota" in outcome["fault"])
            its.do("stop 0")
    with recording.scenario("jobs_beyond_a_quota", POOL, template) as its:
        with quota(admin, "jobs", {"count/jobs.batch": str(len(admin.call("GET", JOBS)["items"]) + 1)}):
            its.do("start 3")
            its.do("list")
    with recording.scenario("jobs_that_others_delete", POOL, template) as its:
        listed = its.do("list")
        admin.call("DELETE", f"{JOBS}/{listed['instances'][0]['id']}", {"propagationPolicy": "Background"})
        its.do("stop 0")
        its.do("list")
    with recording.scenario("jobs_denied", POOL, template) as its:
        with without_bindings(admin, ["ksearch-autoscaler", "ksearch-autoscaler-jobs"]):
            its.do("list")
            its.do("start 2")
    wrong = json.loads(json.dumps(template))
    wrong["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"] = "plenty"
    with recording.scenario("jobs_that_the_server_does_not_understand", POOL, wrong) as its:
        its.do("start 1")
    wrong = json.loads(json.dumps(template))
    del wrong["spec"]["template"]["spec"]["containers"][0]["image"]
    wrong["spec"]["template"]["spec"]["volumes"].pop()
    with recording.scenario("jobs_that_are_invalid", POOL, wrong) as its:
        its.do("start 1")


def apply_manifests(admin):
    """Creates what is in deploy/kubernetes, after a dry run of each; how many objects."""
    documents = []
    for name in ("coordinator", "workers", "autoscaler", "autoscaler_jobs", "network_policy"):
        text = (SOURCE / f"deploy/kubernetes/{name}.yaml").read_text(encoding="utf-8")
        documents += [(name, document) for document in yaml.safe_load_all(text)]
    job = json.loads((SOURCE / "deploy/kubernetes/worker_job.json").read_text(encoding="utf-8"))
    assert documents[0][1]["kind"] == "Namespace"
    admin.call("POST", collection_of(documents[0][1]), documents[0][1])
    for name, document in documents[1:] + [("worker_job", job)]:
        path = collection_of(document) + "?dryRun=All&fieldValidation=Strict"
        admin.call("POST", path, document)
        print(f"dry run accepted: {name}: {document['kind']}/{document['metadata']['name']}")
    for _, document in documents[1:]:
        admin.call("POST", collection_of(document), document)
    return len(documents) + 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("--server", "--token-file", "--ca-file", "--steps"):
        parser.add_argument(name, required=True)
    parser.add_argument("--out", default=str(pathlib.Path(__file__).with_name("kubernetes_recorded.jsonl")))
    arguments = parser.parse_args()
    server = Server(arguments.server, arguments.ca_file)
    admin = Admin(server, pathlib.Path(arguments.token_file).read_text(encoding="utf-8").strip())
    version = admin.call("GET", "/version")["gitVersion"]
    print(f"server {version}")
    if admin.call("GET", f"/api/v1/namespaces/{NAMESPACE}", may_fail=(404,)).get("kind") == "Namespace":
        sys.exit(f"the namespace {NAMESPACE} is there already: use a cluster for tests")
    node = None
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        try:
            applied = apply_manifests(admin)
            token = admin.call("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/ksearch-autoscaler/token", {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"audiences": [], "expirationSeconds": 3600}})["status"]["token"]
            (folder / "token").write_text(token, encoding="utf-8")
            node = Node(admin)
            recording = Recording(admin, node, Recorder(server), arguments.steps, folder)
            record_deployment(recording)
            record_jobs(recording)
        finally:
            for pod in admin.call("GET", PODS)["items"]:
                admin.call("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0}, may_fail=(404,))
            if node is not None:
                node.remove()
            admin.call("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
            admin.wait("the end of the namespace", lambda: admin.call(
                "GET", f"/api/v1/namespaces/{NAMESPACE}", may_fail=(404,)).get("code") == 404)
    head = {"server": version, "by": "tests/autoscaler/record_kubernetes.py", "manifests": applied}
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in [head] + recording.lines)
    if token in text or len(text) > MOST_BYTES:
        sys.exit(f"the recording has {len(text)} bytes, or holds a token")
    pathlib.Path(arguments.out).write_text(text, encoding="utf-8")
    exchanges = sum(len(line.get("exchanges", [])) for line in recording.lines)
    print(f"{arguments.out}: {exchanges} exchanges, {len(text)} bytes")


if __name__ == "__main__":
    main()
