#!/usr/bin/env python3
"""usage: client_test.py COORDINATOR PROTOS PACKAGES SOURCE_DIR: the Python client (python/ksearch) against a real
coordinator, and against a server that plays one where an answer needs a worker. PROTOS: the descriptors as
package.sh makes them."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


def main():
    coordinator, protos, packages, source = sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import package_index
    python = package_index.interpreter(packages)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(pathlib.Path(source) / "python" / "ksearch", pathlib.Path(folder) / "ksearch")
        shutil.copy(protos, pathlib.Path(folder) / "ksearch" / "_protos.binpb")
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": folder, "HOME": folder}
        sys.exit(subprocess.run([python, __file__, "inside", coordinator, source, folder], env=environment).returncode)


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def fails(code, text, work):
    import ksearch
    try:
        work()
    except ksearch.Error as error:
        expect(error.code == code and text in str(error), f"{error.code}: {error}; wanted {code}: {text}")
        return
    expect(False, f"no error {code}: {text}")


def real_coordinator(coordinator, source, folder):
    import ksearch
    state = pathlib.Path(folder) / "state"
    config = pathlib.Path(folder) / "coordinator.textproto"
    config.write_text('providers { name: "people" mailbox {} }\n')
    socket = pathlib.Path(folder) / "socket"
    log = open(pathlib.Path(folder) / "log", "w", encoding="utf-8")
    process = subprocess.Popen([coordinator, "--config", config, "--state-dir", state, "--listen", f"unix:{socket}",
                                "--task-dir", pathlib.Path(source) / "configs/tasks"], stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not (state / "address").exists():
            expect(process.poll() is None and time.monotonic() < deadline, "the coordinator does not start")
            time.sleep(0.05)
        os.environ["KSEARCH_COORDINATOR"] = f"unix:{socket}"
        without_protos(f"unix:{socket}")
        fails("NOT_FOUND", "", lambda: ksearch.status("nothing"))
        fails("FAILED_PRECONDITION", "", lambda: ksearch.start(task="softmax_rows_f32", model="people/any",
                                                               wait_for_workers=0))
        fails("INVALID_ARGUMENT", "no_such_field", lambda: ksearch.start(task="softmax_rows_f32",
                                                                         config={"no_such_field": 1}))
        run = ksearch.start(task="softmax_rows_f32", model="people/any", language="cpp", rounds=3, seed=7,
                            budget_usd=0.5, without_workers=True)
        status = ksearch.status(run)
        expect(status.run_id == run and status.task == "softmax_rows_f32", f"status {status}")
        expect(status.rounds_total == 3 and status.provider == "people", f"status {status}")
        expect(ksearch.Client.state(status) == "running", "state")
        expect([each.run_id for each in ksearch.client().runs()] == [run], "runs")
        fails("NOT_FOUND", "", lambda: ksearch.best(run))
        ksearch.stop(run)
        seen = list(ksearch.watch(run))
        expect(seen and seen[0][0].seq == 1 and [event.seq for event, _ in seen] == list(range(1, len(seen) + 1)),
               f"events {seen}")
        expect(ksearch.Client.state(ksearch.client().wait(run)) == "stopped", "state after stop")
        fails("INVALID_ARGUMENT", "GetRun", lambda: ksearch.client().call("GetRun", no_such=1))
        fails("UNIMPLEMENTED", "GetRun", lambda: ksearch.client().call("Nothing"))
    finally:
        process.terminate()
        process.wait()
    fails("UNAVAILABLE", "ksearch up", lambda: ksearch.Client(f"unix:{socket}").status())


def without_protos(address):
    """Generic gRPC clients can ask, without ksearch's protos, whether the coordinator serves, and what."""
    import grpc
    with grpc.insecure_channel(address) as channel:
        health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=10)
        expect(health == b"\x08\x01", f"health {health}")  # status: SERVING
        ask = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        answer = next(ask(iter([b"\x3a\x00"]), timeout=10))  # list_services: ""
        for service in (b"ksearch.v1.SearchService", b"ksearch.v1.WorkerService"):
            expect(service in answer, f"{service} is not in {answer}")


def reflection_can_be_off(coordinator, source, folder):
    import grpc
    state = pathlib.Path(folder) / "closed_state"
    config = pathlib.Path(folder) / "closed.textproto"
    config.write_text('providers { name: "people" mailbox {} }\nreflection: false\n')
    socket = pathlib.Path(folder) / "closed_socket"
    process = subprocess.Popen([coordinator, "--config", config, "--state-dir", state, "--listen", f"unix:{socket}",
                                "--task-dir", pathlib.Path(source) / "configs/tasks"], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (state / "address").exists():
            expect(process.poll() is None and time.monotonic() < deadline, "the coordinator does not start")
            time.sleep(0.05)
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            ask = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
            try:
                next(ask(iter([b"\x3a\x00"]), timeout=10))
                expect(False, "reflection answers although it is off")
            except grpc.RpcError as error:
                expect(error.code() in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.PERMISSION_DENIED), error.code())
    finally:
        process.terminate()
        process.wait()


def played_server(folder):
    from concurrent import futures

    import grpc
    import ksearch
    from ksearch import _protos
    tokens = []

    def best(request, context):
        tokens.append(dict(context.invocation_metadata()).get("authorization"))
        reply = _protos.message("BestReply")(run_id=request.run_id, task="t")
        reply.best.candidate_id, reply.best.speedup = "ab" * 32, 2.5
        reply.sources.files.add(path="src/kernel.cpp", content="int x;\n")
        if request.run_id == "hostile":
            reply.sources.files.add(path="../escape.cpp", content="")
        return reply

    path, request, _, _ = _protos.methods()["GetBest"]
    service, method = path.strip("/").split("/")
    handler = grpc.unary_unary_rpc_method_handler(best, request.FromString, lambda reply: reply.SerializeToString())
    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with ksearch.Client(f"127.0.0.1:{port}", token="ks_read_x_y") as client:
        found = client.best("r")
        expect(found.speedup == 2.5 and found.files == {"src/kernel.cpp": "int x;\n"}, f"best {found}")
        out = pathlib.Path(folder) / "out"
        expect(found.save(out) == [out / "src/kernel.cpp"], "save")
        expect((out / "src/kernel.cpp").read_text() == "int x;\n", "saved text")
        fails("INVALID_ARGUMENT", "outside", lambda: client.best("hostile").save(out))
        expect(not (pathlib.Path(folder) / "escape.cpp").exists(), "a file outside of the folder")
    expect(tokens == ["Bearer ks_read_x_y"] * 2, f"tokens {tokens}")
    server.stop(None)
    fails("INVALID_ARGUMENT", "TLS", lambda: ksearch.Client("gpu.example:7400"))


def addresses(folder):
    from ksearch._address import default_address, is_local, local_socket
    expect(str(local_socket({"XDG_STATE_HOME": "/x"})) == "/x/ksearch/socket", "XDG_STATE_HOME")
    expect(str(local_socket({"HOME": "/h"}, as_root=False)) == "/h/.local/state/ksearch/socket", "HOME")
    expect(str(local_socket({"HOME": "/h"}, as_root=True)) == "/var/lib/ksearch-local/socket", "root")
    expect(default_address({"XDG_STATE_HOME": folder}) == "127.0.0.1:7400", "no socket")
    expect(default_address({"KSEARCH_COORDINATOR": "h:1", "XDG_STATE_HOME": folder}) == "h:1", "variable")
    expect(is_local("unix:/x") and is_local("[::1]:7") and not is_local("10.0.0.1:7"), "is_local")


if __name__ == "__main__":
    if sys.argv[1] != "inside":
        main()
    addresses(sys.argv[4])
    played_server(sys.argv[4])
    real_coordinator(*sys.argv[2:])
    reflection_can_be_off(*sys.argv[2:])
    print("the Python client: passed")
