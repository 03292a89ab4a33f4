#!/usr/bin/env python3
"""usage: page_browser_test.py PAGE_SERVER TASK_DIR [FOLDER]: opens the live page in headless Chromium.

It loads with few bytes and is painted at once; shows an event within a second; shows hostile texts of every kind as
text; keeps scrolling with 10,000 candidates; sends what its buttons say; and notices an upgrade. Prints figures, and
writes pictures to FOLDER if it is given. Exit status 77 without Chromium.

The aims for times are those of an idle machine: on a busy one each is tried a few times before it counts as missed."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import browser as browsers

MOST_BYTES = 300 << 10
FIRST_PAINT_S = 0.5
SHOWN_S = 1.0
FRAME_MS = 1000 / 60
TRIES = 5


def fail(text):
    sys.exit(f"FAILED: {text}")


class Server:
    """The simulated coordinator."""

    def __init__(self, program, folder, tasks):
        self.process = subprocess.Popen([program, folder, tasks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.asked = []  # changes that pages requested: (method, request)

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.process.stdout.readline()
            if not answer:
                fail("the server has ended")
            if answer.strip() == "done":
                return
            method, _, request = answer.partition(" ")
            self.asked.append((method, json.loads(request)))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def check_load(page, server):
    paints = []
    for _ in range(TRIES):
        page.ask("Network.clearBrowserCache")
        page.events.clear()
        page.open(server.url)
        page.wait("document.querySelector('tr.link')")
        size = page.transferred()
        paints.append(page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000)
        if size > MOST_BYTES:
            fail(f"the page and its data are {size} bytes")
        if page.complaints():
            fail(page.complaints())
    print(f"first contentful paint {min(paints):.3f} to {max(paints):.3f} s, {size / 1024:.1f} KiB transferred")
    if min(paints) > FIRST_PAINT_S:
        fail(f"the first paint takes {min(paints):.3f} s at best")


def check_live(page, server):
    for where, what in (("#/", "the list of runs"), ("#/run/live", "a run's page")):
        page.open(server.url + where)
        page.wait("document.getElementById('connection')?.textContent === 'live'")
        delays = []
        for number in range(TRIES):
            word = f"word{number}{'ab'[where == '#/']}"
            begun = time.monotonic()
            server.do(f"say live {word}")
            page.wait(f"document.body?.textContent.includes('{word}')")
            delays.append(time.monotonic() - begun)
            time.sleep(0.5)
        print(f"{what}: an event is shown after {min(delays):.2f} to {max(delays):.2f} s")
        if min(delays) > SHOWN_S:
            fail(f"{what} shows an event after {min(delays):.2f} s at best")


def check_hostile(page, server):
    server.do("hostile")
    for where, words in (("#/", "</script>"), ("#/run/hostile", "</script>"), ("#/run/hostile/candidate/c1", "</script>"),
                         ("#/fleet", "Workers"), ("#/mailbox", "Mailbox"), ("#/tasks", "softmax_rows_f32")):
        page.events.clear()
        page.open(server.url + where)
        page.wait(f"document.getElementById('main')?.innerText.includes({json.dumps(words)})")
        if where == "#/run/hostile":
            # Including collapsed parts.
            page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            click_node(page, "</script>")
            page.wait("document.body?.innerText.split('</script>').length > 12")
        server.do("say hostile still")
        time.sleep(0.7)
        if page.run("document.title") != "ksearch" or page.run("document.querySelectorAll('main img, main script').length"):
            fail(f"{where}: a text became HTML")
        if page.complaints():
            fail(f"{where}: {page.complaints()}")
    print("hostile texts are text on six pages")


# Scrolls for two seconds, back and forth if necessary, and returns the times between frames in milliseconds.
SCROLL = """new Promise((done) => {
  const place = PLACE, times = [];
  let last = 0, step = STEP;
  const frame = (now) => {
    if (last) times.push(now - last);
    last = now;
    const before = place.scrollTop;
    place.scrollTop += step;
    if (place.scrollTop === before) step = -step;
    if (times.length < 120) requestAnimationFrame(frame); else done(times);
  };
  requestAnimationFrame(frame);
})"""


def check_many(page, server):
    server.do("run many")
    server.do("rounds many 10000")
    begun = time.monotonic()
    page.open(server.url + "#/run/many")
    page.wait("document.querySelector('.window td a')", 120)
    print(f"the page of a run with 10,000 candidates is there after {time.monotonic() - begun:.1f} s")
    table = "document.querySelector('.window')"
    if page.run(f"{table}.previousSibling.innerText") != "10000":
        fail("the table does not count 10,000 candidates")
    if page.run(f"{table}.scrollHeight") < 10000 * 28:
        fail("the table is not as high as 10,000 rows")
    if page.run("document.querySelectorAll('.window tbody tr').length") > 100:
        fail("rows out of sight are elements, too")
    stop = threading.Event()

    def say():
        number = 0
        while not stop.wait(0.3):
            number += 1
            server.do(f"say many event{number}")

    for name, place, step in (("the page", "document.documentElement", 60), ("the table", table, 400)):
        for busy in (False, True):
            stop.clear()
            thread = threading.Thread(target=say)
            if busy:
                thread.start()
            best = None
            for _ in range(TRIES):
                times = sorted(page.run(SCROLL.replace("PLACE", place).replace("STEP", str(step))))
                best = min(best or (1e9, 0, 0), (times[int(0.95 * len(times))], times[len(times) // 2], times[-1]))
                if best[0] < 1.1 * FRAME_MS:
                    break
            stop.set()
            if busy:
                thread.join()
            print(f"scrolling {name} of 10,000 candidates{' while events come' if busy else ''}: "
                  f"a frame takes {best[1]:.1f} ms, 95 % at most {best[0]:.1f} ms, the longest {best[2]:.1f} ms")
            if best[1] > 1.1 * FRAME_MS or best[0] > 2.1 * FRAME_MS:
                fail("scrolling is not smooth")
    # Rows are shown at every scroll position; sorting and filtering apply to all of them.
    page.run(f"{table}.scrollTop = 5000 * 28")
    page.wait("[...document.querySelectorAll('.window td:nth-child(2)')].some((each) => each.innerText === '5000')")
    page.run("[...document.querySelectorAll('.window th')].find((each) => each.innerText.startsWith('Round')).click()")
    page.run(f"{table}.scrollTop = 0")
    page.wait("document.querySelector('.window td:nth-child(2)').innerText === '1'")
    page.run("""(() => {
      const filter = document.querySelector('input[type=search]');
      filter.value = document.querySelectorAll('.window td a')[3].innerText;
      filter.dispatchEvent(new Event('input'));
    })()""")
    page.wait("document.querySelectorAll('.window tbody tr').length === 1")


# Clicks the node of the tree that has this in its title.
def click_node(page, title):
    page.wait("document.querySelector('svg.tree .node')")
    page.run(f"""[...document.querySelectorAll('svg.tree .node')]
      .find((each) => each.querySelector('title').textContent.includes({json.dumps(title)}))
      .dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))""")


def check_tree(page, server):
    page.open(server.url + "#/run/live")
    click_node(page, "variant 7")
    page.wait("document.body.innerText.includes('Row blocks sized to the cache, variant 7')")
    # From the root to the seventh through the third.
    if page.run("document.querySelectorAll('svg.tree .link.line').length") != 2:
        fail("the line of descent is not marked")
    before = page.run("document.querySelector('svg.tree > g').getAttribute('transform')")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent === '+').click()")
    if page.run("document.querySelector('svg.tree > g').getAttribute('transform')") == before:
        fail("the tree does not zoom")
    # Text being typed, and the focus, stay while the tree is redrawn.
    page.run("document.querySelector('.steering input[placeholder^=\"an idea\"]').focus()")
    page.ask("Input.insertText", text="half an id")
    for number in range(3):
        server.do(f"say live drawn{number}")
        page.wait(f"document.body.innerText.includes('drawn{number}')")
        time.sleep(0.6)
    page.ask("Input.insertText", text="ea")
    if page.run("document.querySelector('.steering input[placeholder^=\"an idea\"]').value") != "half an idea":
        fail("what is being typed is lost when the tree is drawn again")
    # By keyboard.
    page.run("""(() => {
      const node = [...document.querySelectorAll('svg.tree .node')].find((each) => each.textContent.includes('variant 2'));
      node.focus();
      node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    })()""")
    page.wait("document.querySelector('h3')?.innerText.endsWith('variant 2')")
    if page.complaints():
        fail(page.complaints())
    print("the tree marks lines of descent, zooms, and is drawn again under the hands of somebody who types")


def check_steering(page, server):
    page.open(server.url + "#/run/live")
    page.wait("document.querySelector('svg.tree .node')")
    page.run("confirm = () => true")

    def click(label, run_id="live"):
        page.run(f"[...document.querySelectorAll('button')].find((each) => each.textContent === '{label}').click()")
        time.sleep(0.3)
        server.do("say live asked")
        if not server.asked:
            fail(f"the button '{label}' asks for nothing")
        method, request = server.asked.pop()
        if request.get("run_id") != run_id:
            fail(f"'{label}' asks {method} {request}")
        return method, request

    method, request = click("Pause")
    if method != "SteerRun" or request.get("pause") is not True or len(request["request_id"]) != 32:
        fail(f"'Pause' asks {method} {request}")
    click_node(page, "variant 3")
    page.wait("document.querySelector('.steering')")
    page.run("document.querySelector('.steering input[type=number]').value = '0.35'")
    if click("Set score")[1]["edits"] != {"ops": [{"update": {"node_id": "n3", "patch": {"score": 0.35}}}]}:
        fail("'Set score' asks for something else")
    page.run("document.querySelector('.steering input[placeholder=why]').value = 'no gain'")
    if click("Prune")[1]["edits"] != {"ops": [{"remove": {"node_id": "n3", "reason": "no gain"}}]}:
        fail("'Prune' asks for something else")
    page.run("document.querySelector('.steering input[placeholder^=\"an idea\"]').value = 'Prefetch'")
    inserted = click("Add idea")[1]["edits"]["ops"][0]["insert"]
    if inserted["parent_id"] != "n3" or inserted["node"]["title"] != "Prefetch":
        fail("'Add idea' asks for something else")
    # A program, chosen in the file dialog.
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "kernel.cpp"
        program.write_text("// a program of somebody's own, <b>\n")
        page.choose_files("document.querySelector('.steering input[type=file]')", [str(program)])
        method, request = click("Give this program")
    if method != "SteerRun" or request["program"] != {
            "parent_id": "n3", "sources": {"files": [{"path": "kernel.cpp", "content": "// a program of somebody's own, <b>\n"}]}}:
        fail(f"'Give this program' asks {method} {request}")
    method, request = click("Stop")
    if (method, request) != ("StopRun", {"run_id": "live"}):
        fail(f"'Stop' asks {method} {request}")
    # The page offers what fits the state: a paused run can go on, an ended one can be resumed.
    server.do("pause live")
    page.wait("[...document.querySelectorAll('button')].some((each) => each.textContent === 'Continue')")
    method, request = click("Continue")
    if method != "SteerRun" or request.get("pause") is not False:
        fail(f"'Continue' asks {method} {request}")
    server.do("run ended")
    server.do("stop ended")
    page.open(server.url + "#/run/ended")
    page.wait("[...document.querySelectorAll('button')].some((each) => each.textContent === 'Resume')")
    page.run("document.querySelector('input[placeholder=rounds]').value = '120'")
    method, request = click("Resume", "ended")
    if (method, request) != ("ResumeRun", {"run_id": "ended", "rounds": 120}):
        fail(f"'Resume' asks {method} {request}")
    if page.run("document.querySelectorAll('.steering').length"):
        fail("a run that has ended can be edited")
    print("every button of a run asks for what it says")


def open_pages(server):
    with urllib.request.urlopen(server.url + "metrics") as answer:
        return int(answer.read().decode().split()[1])


def check_sight(page, server):
    """An invisible page keeps no connection: a browser has only six to a server."""
    page.open(server.url + "#/run/live")
    page.wait("document.getElementById('connection')?.textContent === 'live'")

    def see(hidden):
        page.run(f"""Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }});
          document.dispatchEvent(new Event('visibilitychange'))""")

    see("true")
    end = time.monotonic() + 20
    while open_pages(server):
        if time.monotonic() > end:
            fail(f"{open_pages(server)} streams are open while no page is in sight")
        time.sleep(0.2)
    server.do("say live unseen")
    see("false")
    page.wait("document.body.innerText.includes('unseen')", 5)
    print("a page out of sight lets its connection go, and catches up when it is seen")


def check_other_origin(page, server):
    """A page of another site in the same browser can neither read nor change anything."""
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_):
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    server.asked.clear()
    page.open(f"http://127.0.0.1:{other.server_port}/")
    page.wait("document.title === 'elsewhere'")
    body = json.dumps(json.dumps({"run_id": "live"}))
    for name, options in (
            ("reads", "{}"),
            ("changes something", f"""{{ method: 'POST', body: {body},
              headers: {{ 'Content-Type': 'application/json', 'X-Ksearch': '1' }} }}"""),
            ("changes something without being asked back", f"{{ method: 'POST', mode: 'no-cors', body: {body} }}")):
        method = "StopRun" if "POST" in options else "ListRuns"
        got = page.run(f"fetch('{server.url}api/v1/{method}', {options}).then((answer) => answer.text()).catch(() => 'refused')")
        if got not in ("refused", ""):
            fail(f"a page of another origin {name}: {got}")
    server.do("say live elsewhere")
    if server.asked:
        fail(f"a page of another origin changes something: {server.asked}")
    other.shutdown()
    print("a page of another origin reads and changes nothing")


def check_fleet(page, server):
    page.events.clear()
    page.open(server.url + "#/fleet")
    page.wait("document.getElementById('main')?.innerText.includes('Workers')")
    time.sleep(2)  # after its first request, the page has fetched once more
    # No event carries GPU readings: the page fetches them at each sign of life from the server.
    server.do("gpus")
    for words in ("1980 MHz · 41 °C · 123 of 700 W", "1215 MHz · 84 °C", "throttled: heat"):
        page.wait(f"document.getElementById('main').innerText.includes({json.dumps(words)})", 40)
    if page.run("document.getElementById('main').innerText.split('throttled').length") != 2:
        fail("a GPU that is not throttled is called so")
    server.asked.clear()
    page.run("confirm = () => true")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Drain').click()")
    page.wait("document.body.innerText.includes('asked')")
    server.do("say live drained")
    if server.asked != [("DrainWorker", {"worker_id": "w-node1"})]:
        fail(f"'Drain' asks for {server.asked}")
    if page.complaints():
        fail(page.complaints())
    print("the fleet shows clocks, temperature, power and throttling of GPUs, and drains a worker")


def check_memory(page, server):
    page.open(server.url + "#/run/live")
    page.wait("document.body?.innerText.includes('1 priors of 14 measured gains')")
    page.run("[...document.querySelectorAll('details')].find((each) => each.innerText.includes('measured gains')).open = true")
    row = "the same operation\\tshared memory\\tnot known\\ta program\\t14\\t11\\t9\\t3\\t1.31x [1.08, 1.62]"
    page.wait(f"document.body?.innerText.includes('{row}')")
    print("a run's page shows what it read of the memory")


def check_upgrade(page, server):
    # A page of another version than the server's.
    script = page.ask("Page.addScriptToEvaluateOnNewDocument", source="""new MutationObserver(() => {
      const meta = document.querySelector('meta[name=ksearch-page]');
      if (meta) meta.content = 'older';
    }).observe(document, { childList: true, subtree: true });""")
    page.open(server.url)
    page.wait("document.getElementById('notices')?.innerText.includes('was upgraded since this page was loaded')")
    page.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    print("a page of another version says that it is stale")


def take_pictures(page, server, folder):
    server.do("run softmax-7f3a")
    server.do("rounds softmax-7f3a 60")
    for name, where, ready in (("runs", "#/", "document.querySelector('tr.link')"),
                               ("run", "#/run/softmax-7f3a", "document.querySelector('svg.chart')")):
        page.open(server.url + where)
        page.wait(ready)
        time.sleep(0.5)
        page.screenshot(os.path.join(folder, name + ".png"), whole=False)
    click_node(page, "variant 5")
    page.run("document.querySelector('svg.tree').previousSibling.scrollIntoView()")
    time.sleep(0.5)
    page.screenshot(os.path.join(folder, "tree.png"), whole=False)
    server.do("gpus")
    page.open(server.url + "#/fleet")
    page.wait("document.getElementById('main')?.innerText.includes('MHz')")
    time.sleep(0.5)
    page.screenshot(os.path.join(folder, "fleet.png"), whole=False)


def main():
    path = browsers.find_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(folder) / "state"
        state.mkdir()
        server = Server(sys.argv[1], str(state), sys.argv[2])
        with browsers.Browser(path, folder) as page:
            if len(sys.argv) > 3:
                take_pictures(page, server, sys.argv[3])
            for run in range(20):
                server.do(f"run busy{run}")
            server.do("run live")
            server.do("rounds live 40")
            check_load(page, server)
            check_live(page, server)
            check_tree(page, server)
            check_steering(page, server)
            check_sight(page, server)
            check_other_origin(page, server)
            check_fleet(page, server)
            check_memory(page, server)
            check_upgrade(page, server)
            check_hostile(page, server)
            check_many(page, server)
        server.end()
    print("the page in a browser: passed")


main()
