#!/usr/bin/env python3
"""usage: page_steering_test.py BIN_DIR SOURCE_ROOT: a person steers a real search through its page.

Real coordinator, worker and scripted model; headless Chromium clicks what a person clicks. After each click the
test asks the coordinator for the effect: pause, score, new idea, prune, the user's own program (built, checked and
timed by the worker), go on, stop, resume, and an answer to a prompt in the mailbox. Exit status 77 without Chromium.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "tests/coordinator/dashboard"))
import browser as browsers  # noqa: E402

SECONDS = 90
DATA = "tests/integration/data"


def fail(text):
    raise AssertionError(text)


class Cluster:
    def __init__(self, binaries, root, folder):
        self.binaries, self.root, self.folder = binaries, root, folder
        self.processes = []
        # The worker changes to its own account, which must reach its state and the device's lock.
        folder.chmod(0o755)
        for name in ("device.lock", "device.lock.gate"):
            (folder / name).touch()
        self.start("model", "ksearch-model-server", "--cassette", root / DATA / "softmax.cassette.textproto",
                   "--port", "0", "--port-file", folder / "model.port", "--delay-ms", "300")
        port = self.text("model.port").split()[0]
        (folder / "coordinator.textproto").write_text(f"""providers {{
  name: "scripted"
  openai_chat {{ base_url: "http://127.0.0.1:{port}/v1" default_model: "scripted-softmax" label_headers: true }}
}}
providers {{ name: "people" mailbox {{}} }}
run_defaults {{ provider: "scripted" }}
""")
        self.start("coordinator", "ksearch-coordinator", "--config", folder / "coordinator.textproto", "--state-dir",
                   folder / "state", "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--task-dir",
                   root / "configs/tasks")
        self.address = self.text("state/address").strip()
        self.page = self.text("state/page_url").strip()
        config = (root / "configs/worker_cpu.textproto").read_text()
        (folder / "worker.textproto").write_text(
            config.replace("device {\n", f'device {{\n  lock_path: "{folder}/device.lock"\n', 1))
        self.start("worker", "ksearch-worker", "--config", folder / "worker.textproto", "--coordinator", self.address,
                   "--state-dir", folder / "worker", "--name", "w1")

    def start(self, name, program, *arguments):
        log = open(self.folder / f"{name}.log", "w")
        self.processes.append(subprocess.Popen([self.binaries / program, *arguments], stdout=log, stderr=log))

    def text(self, name):
        """Of a file that a process writes soon."""
        return wait(name, lambda: (self.folder / name).is_file() and (self.folder / name).read_text())

    def ask(self, *arguments):
        done = subprocess.run([self.binaries / "ksearch", "--coordinator", self.address, "--json", *arguments],
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            fail(f"ksearch {arguments}: {done.stderr}")
        return json.loads(done.stdout)

    def tree(self):
        return {node["node_id"]: node for node in self.ask("tree", "last")["nodes"]}

    def events(self):
        lines = subprocess.run([self.binaries / "ksearch", "--coordinator", self.address, "--json", "log", "last"],
                               capture_output=True, text=True, timeout=SECONDS, check=True).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait(what, look, seconds=SECONDS):
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            fail(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def button(page, label):
    return f"[...document.querySelectorAll('button')].find((each) => each.textContent === '{label}')"


def click(page, label):
    page.wait(button(page, label))
    page.run(button(page, label) + ".click()")
    # The result is shown beside the button, unless the page has been redrawn since.
    said = page.run(f"({button(page, label)})?.nextSibling?.className || ''")
    if "bad" in said:
        fail(f"{label}: {page.run(button(page, label) + '.nextSibling.textContent')}")


def choose_node(page, title):
    found = f"[...document.querySelectorAll('svg.tree .node')].find((each) => each.querySelector('title').textContent === {json.dumps(title)})"
    page.wait(found)
    page.run(f"{found}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    page.wait(f"document.querySelector('h3')?.innerText === {json.dumps(title)}")


def steer(cluster, page):
    root = cluster.root
    page.open(cluster.page + "#/run/last")
    page.wait("document.querySelectorAll('svg.tree .node').length >= 4", SECONDS)
    page.run("confirm = () => true")
    page.events.clear()  # before there was a tree, asking for it was answered with "not found"

    click(page, "Pause")
    wait("the run is paused", lambda: cluster.ask("status", "last").get("paused"))
    page.wait(button(page, "Continue"))
    # Work in progress has ended, so no idea is being worked on.
    wait("nothing is under way", lambda: not cluster.ask("status", "last").get("jobs_in_flight"))

    choose_node(page, "Divide once per row")
    page.run("document.querySelector('.steering input[type=number]').value = '0.35'")
    click(page, "Set score")
    wait("the score", lambda: cluster.tree()["fewer_divisions"]["action"]["score"] == 0.35)

    page.run("document.querySelector('.steering input[placeholder^=\"an idea\"]').value = 'Two rows at a time'")
    page.run("document.querySelector('.steering textarea').value = 'Interleave <b>two</b> rows.'")
    click(page, "Add idea")
    added = wait("the idea", lambda: [node for node in cluster.tree().values()
                                      if node.get("action", {}).get("title") == "Two rows at a time"])[0]
    if added["parent_id"] != "fewer_divisions" or added["action"]["description"] != "Interleave <b>two</b> rows.":
        fail(f"the idea is {added}")

    choose_node(page, "Two rows at a time")
    page.run("document.querySelector('.steering input[placeholder=why]').value = 'the cache holds one'")
    click(page, "Prune")
    wait("the idea is pruned", lambda: added["node_id"] not in cluster.tree())
    page.wait("document.body.innerText.includes('1 pruned')")

    # The user's own program: given while the run is paused, judged once it continues.
    page.wait("document.querySelector('svg.tree .node')")
    choose_node(page, "Divide once per row")
    program = cluster.folder / "kernel.cpp"
    program.write_text("// from the page\n" + (root / DATA / "softmax/vector_exp.cpp").read_text())
    page.choose_files("document.querySelector('.steering input[type=file]')", [str(program)])
    click(page, "Give this program")
    given = wait("an event of the program", lambda: [event for event in cluster.events()
                                                     if event["kind"] == "STEERED" and event.get("candidate_id")])
    candidate = given[-1]["candidate_id"]
    click(page, "Continue")
    wait("the run goes on", lambda: not cluster.ask("status", "last").get("paused"))
    wait("the program passes", lambda: [event for event in cluster.events() if event["kind"] == "CANDIDATE_PASSED"
                                        and event.get("candidate_id") == candidate])
    solved = wait("a node solved by it", lambda: [node for node in cluster.tree().values()
                                                  if node.get("solution", {}).get("candidate_id") == candidate])
    if solved[0]["parent_id"] != "fewer_divisions":
        fail(f"the program's node is {solved[0]}")
    shown = cluster.ask("show", "last", candidate)
    if "// from the page" not in json.dumps(shown):
        fail("the candidate is another program")

    click(page, "Stop")
    wait("the run is stopped", lambda: cluster.ask("status", "last")["state"] == "RUN_STATE_STOPPED")
    page.wait(button(page, "Resume"))
    page.run("document.querySelector('input[placeholder=rounds]').value = '300'")
    click(page, "Resume")
    wait("the run is resumed", lambda: cluster.ask("status", "last")["state"] == "RUN_STATE_RUNNING")
    if cluster.ask("status", "last")["rounds_total"] != 300:
        fail("the resumed run has another number of rounds")
    if page.complaints():
        fail(page.complaints())
    steered = [event.get("text", "") for event in cluster.events() if event["kind"] == "STEERED"]
    if len(steered) < 6:
        fail(f"not every change is an event: {steered}")
    print("\n".join(steered))


def answer_a_prompt(cluster, page):
    cluster.ask("run", "--task", "softmax_rows_f32", "--provider", "people", "--rounds", "1", "--detach",
                "--without-workers")
    page.open(cluster.page + "#/mailbox")
    page.wait("document.querySelectorAll('#main details').length === 1", SECONDS)
    page.run("document.querySelector('#main details').open = true")
    page.wait("[...document.querySelectorAll('#main details pre')].some((each) => each.innerText.includes('softmax_rows_f32'))")
    reply = (cluster.root / DATA / "softmax/init.md").read_text()
    page.run(f"document.querySelector('#main details textarea').value = {json.dumps(reply)}")
    click(page, "Answer")
    wait("the answer becomes a tree", lambda: cluster.ask("status", "last").get("nodes", 0) >= 4)
    if "vector_exp" not in cluster.tree():
        fail(f"the tree is {list(cluster.tree())}")
    # An answered prompt disappears from the page; the run's next prompt appears.
    page.wait("!document.querySelector('#main details textarea')?.value", SECONDS)
    print("a prompt of the mailbox is answered on its page")


def main():
    chromium = browsers.find_or_skip()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cluster = Cluster(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), folder)
        try:
            cluster.ask("run", "--task", "softmax_rows_f32", "--config", cluster.root / DATA / "quick_run.textproto",
                        "--rounds", "200", "--parallel", "1", "--detach")
            with browsers.Browser(chromium, str(folder / "browser")) as page:
                steer(cluster, page)
                cluster.ask("stop", "last")
                answer_a_prompt(cluster, page)
        except (AssertionError, RuntimeError) as error:
            for log in folder.glob("*.log"):
                print(f"---- {log.name}\n{log.read_text()[-4000:]}")
            sys.exit(f"FAILED: {error}")
        finally:
            cluster.end()
    print(f"a search is steered through its page, in {time.monotonic() - begun:.0f} s: passed")


main()
