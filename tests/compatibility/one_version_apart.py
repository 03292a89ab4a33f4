#!/usr/bin/env python3
"""usage: one_version_apart.py OLD_BIN NEW_BIN SOURCE_ROOT

Programs of two releases together, as they meet while a cluster is upgraded. OLD_BIN and NEW_BIN are folders with
ksearch, ksearch-coordinator, ksearch-worker, ksearch-verifier, ksearch-runner and ksearch-model-server; SOURCE_ROOT is
the tree of the new ones. Each case is a scripted search that must end with a confirmed kernel, and an evaluation.
docs/packages.md says what must work, and what was seen. No test of the tree runs this: it needs an older build.
"""

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SECONDS = 300
NAMES = ("ksearch", "ksearch-coordinator", "ksearch-worker", "ksearch-verifier", "ksearch-runner", "ksearch-model-server")
failures = []


class Cluster:
    """One coordinator and one worker, each of a release, in a folder that the next one may take over."""

    def __init__(self, folder, source):
        self.folder, self.source = pathlib.Path(folder), pathlib.Path(source)
        self.processes = {}

    def start(self, name, argv):
        log = open(self.folder / f"{name}.log", "a")
        self.processes[name] = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)

    def wait_for(self, path):
        end = time.monotonic() + 60
        while not (path.exists() and path.read_text().strip()):
            if time.monotonic() > end:
                raise RuntimeError(f"{path} does not come; logs are in {self.folder}")
            time.sleep(0.1)
        return path.read_text().strip()

    def start_model(self, binaries):
        port = self.folder / "model.port"
        port.unlink(missing_ok=True)
        self.start("model", [binaries / "ksearch-model-server", "--cassette",
                             self.source / "tests/integration/data/softmax.cassette.textproto",
                             "--port", "0", "--port-file", port])
        self.model = f"http://127.0.0.1:{self.wait_for(port)}/v1"

    def start_coordinator(self, binaries):
        (self.folder / "coordinator.textproto").write_text(
            f'providers {{ name: "scripted" openai_chat {{ base_url: "{self.model}" default_model: "scripted" '
            'label_headers: true } }\nrun_defaults { provider: "scripted" }\n')
        address = self.folder / "state/address"
        address.unlink(missing_ok=True)
        self.start("coordinator", [
            binaries / "ksearch-coordinator", "--config", self.folder / "coordinator.textproto", "--state-dir",
            self.folder / "state", "--listen", "127.0.0.1:0", "--task-dir", self.source / "configs/tasks"])
        self.address = self.wait_for(address)

    def start_worker(self, binaries):
        self.start("worker", [binaries / "ksearch-worker", "--config", self.source / "configs/worker_cpu.textproto",
                              "--coordinator", self.address, "--state-dir", self.folder / "worker", "--name", "w"])

    def schema(self):
        """Reads the database of a coordinator that has ended."""
        with sqlite3.connect(f"file:{self.folder / 'state/ksearch.db'}?mode=ro", uri=True) as database:
            return database.execute("PRAGMA user_version").fetchone()[0]

    def stop(self, *names):
        for name in names or list(self.processes):
            process = self.processes.pop(name)
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def cli(self, binaries, *words):
        done = subprocess.run([binaries / "ksearch", "--coordinator", self.address, *words], capture_output=True,
                              text=True, timeout=SECONDS, cwd=self.folder)
        return done.returncode, done.stdout + done.stderr


def check(what, good, output=""):
    print(f"{'ok    ' if good else 'FAILED'} {what}", flush=True)
    if not good:
        failures.append(what)
        print(output[-3000:])


def evaluate(cluster, cli, what):
    code, output = cluster.cli(cli, "eval", "--task", "softmax_rows_f32", "--wait-for-workers", "60",
                               str(cluster.source / "configs/tasks/cpu/softmax_rows_f32/baseline.cpp"))
    check(f"{what}: eval", code == 0 and "passed" in output, output)


def search(cluster, cli, what, rounds=6):
    code, output = cluster.cli(cli, "run", "--task", "softmax_rows_f32", "--rounds", str(rounds), "--stagnation", "2",
                               "--config", str(cluster.source / "tests/integration/data/quick_run.textproto"))
    check(f"{what}: run ends with a confirmed kernel", code == 0 and "NEW INCUMBENT" in output, output)
    for words in (("status", "last"), ("tree", "last"), ("log", "last"), ("best", "last", "--source"), ("workers",),
                  ("tasks",), ("jobs",), ("results",)):
        code, output = cluster.cli(cli, *words)
        check(f"{what}: {words[0]}", code == 0 and output.strip() != "", output) if words[0] != "jobs" else check(
            f"{what}: jobs", code == 0, output)


def pair(what, folder, source, coordinator, worker, cli):
    cluster = Cluster(folder, source)
    try:
        cluster.start_model(coordinator)
        cluster.start_coordinator(coordinator)
        cluster.start_worker(worker)
        evaluate(cluster, cli, what)
        search(cluster, cli, what)
    finally:
        cluster.stop()


def upgrade(folder, source, old, new):
    """An old coordinator's database, with a run that it did not finish, taken over by a new one, and back."""
    what = "new coordinator, old database"
    cluster = Cluster(folder, source)
    try:
        cluster.start_model(new)
        cluster.start_coordinator(old)
        cluster.start_worker(old)
        search(cluster, old, "old coordinator", rounds=4)
        tree = cluster.cli(old, "tree", "last")[1]
        best = cluster.cli(old, "best", "last", "--source")[1]
        cluster.stop("coordinator")
        schema = cluster.schema()
        cluster.start_coordinator(new)  # at another address
        cluster.stop("worker")
        cluster.start_worker(old)
        check(f"{what}: the tree is the same", cluster.cli(new, "tree", "last")[1] == tree)
        check(f"{what}: the best program is the same", cluster.cli(new, "best", "last", "--source")[1] == best)
        code, output = cluster.cli(new, "resume", "last", "--rounds", "6")
        check(f"{what}: resume", code == 0, output)
        code, output = cluster.cli(new, "watch", "last")
        check(f"{what}: the run goes on to its end", code == 0 and "6 of 6 rounds" in output, output)
        code, output = cluster.cli(new, "recheck", "last")
        check(f"{what}: recheck gives a verdict", code in (0, 1, 7) and "no " not in output[:3], output)
        evaluate(cluster, new, what)
        cluster.stop("coordinator")
        go_back(cluster, old, schema)
    finally:
        cluster.stop()


def go_back(cluster, old, schema):
    """An old coordinator and the database that a new one has used: it works if the schema is the same still."""
    what = "old coordinator, new database"
    now = cluster.schema()
    if now == schema:
        cluster.start_coordinator(old)
        code, output = cluster.cli(old, "best", "last")
        check(f"{what}: works, for the schema is {now} in both", code == 0, output)
        return
    database = cluster.folder / "state/ksearch.db"
    before = database.read_bytes()
    done = subprocess.run([old / "ksearch-coordinator", "--config", cluster.folder / "coordinator.textproto",
                           "--state-dir", cluster.folder / "state", "--listen", "127.0.0.1:0", "--task-dir",
                           cluster.source / "configs/tasks"], capture_output=True, text=True, timeout=60)
    lines = done.stderr.strip().splitlines()
    print("       " + (lines[-1] if lines else "(no message)"))
    check(f"{what}: schema {now} is refused by one of {schema}, with a line, and untouched",
          done.returncode != 0 and bool(lines) and database.read_bytes() == before, done.stderr)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    source = pathlib.Path(sys.argv[3]).resolve()
    with tempfile.TemporaryDirectory(prefix="ksearch_versions_") as top:
        os.chmod(top, 0o755)  # a worker started as root becomes another account, which must get in
        binaries = {}
        for release, given in (("old", sys.argv[1]), ("new", sys.argv[2])):
            binaries[release] = pathlib.Path(top) / release
            binaries[release].mkdir()
            for name in NAMES:
                shutil.copy2(pathlib.Path(given) / name, binaries[release])
            version = subprocess.run([binaries[release] / "ksearch", "--version"], capture_output=True, text=True)
            print(f"{release}: {version.stdout.strip()}")
        old, new = binaries["old"], binaries["new"]
        for number, (what, coordinator, worker, cli) in enumerate((
                ("new coordinator, old worker", new, old, new), ("old coordinator, new worker", old, new, old),
                ("new coordinator, old command line", new, new, old))):
            folder = pathlib.Path(top) / str(number)
            folder.mkdir()
            pair(what, folder, source, coordinator, worker, cli)
        folder = pathlib.Path(top) / "upgrade"
        folder.mkdir()
        upgrade(folder, source, old, new)
    print(f"{len(failures)} failed" if failures else "all passed")
    sys.exit(1 if failures else 0)


main()
