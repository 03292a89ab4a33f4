#!/usr/bin/env python3
"""usage: prometheus_test.py BIN_DIR SOURCE_ROOT: a real Prometheus scrapes a real coordinator.

It must find the target up, take every family of /metrics with its type, and evaluate the alert rules of
deploy/grafana. Exit status 77 where Debian's package prometheus is not installed.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

SECONDS = 60


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait(what, look):
    end = time.monotonic() + SECONDS
    while True:
        try:
            found = look()
        except OSError:
            found = None
        if found:
            return found
        if time.monotonic() > end:
            sys.exit(f"FAILED: {what}: not within {SECONDS} s")
        time.sleep(0.2)


def main():
    prometheus = shutil.which("prometheus")
    if prometheus is None:
        print("SKIPPED: prometheus is not installed")
        sys.exit(77)
    binaries, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "coordinator.textproto").write_text("")
        page, own = free_port(), free_port()
        (folder / "prometheus.yml").write_text(f"""global: {{scrape_interval: 1s, evaluation_interval: 1s}}
scrape_configs:
  - job_name: ksearch
    static_configs: [{{targets: ["127.0.0.1:{page}"]}}]
rule_files: [{root / "deploy/grafana/alerts.yml"}]
""")
        logs = open(folder / "log", "w")
        coordinator = subprocess.Popen(
            [binaries / "ksearch-coordinator", "--config", folder / "coordinator.textproto", "--state-dir",
             folder / "state", "--listen", "127.0.0.1:0", "--dashboard", f"127.0.0.1:{page}", "--task-dir",
             root / "configs/tasks"], stdout=logs, stderr=logs)
        server = subprocess.Popen(
            [prometheus, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{own}"], stdout=logs, stderr=logs)
        try:
            def ask(path, **fields):
                url = f"http://127.0.0.1:{own}/api/v1/{path}?{urllib.parse.urlencode(fields)}"
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return json.load(answer)["data"]

            def query(text):
                return ask("query", query=text)["result"]

            wait("the target is up", lambda: [one for one in query('up{job="ksearch"}') if one["value"][1] == "1"])
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/metrics", timeout=10) as answer:
                types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", answer.read().decode(), flags=re.M))
            known = wait("the families are known", lambda: ask("targets/metadata", match_target='{job="ksearch"}'))
            scraped = {one["metric"]: one["type"] for one in known}
            if len(types) < 15 or any(scraped.get(family) != kind for family, kind in types.items()):
                sys.exit(f"FAILED: /metrics has {types}, Prometheus has {scraped}")
            build = query("ks_build_info")
            if not build or not build[0]["metric"]["version"]:
                sys.exit(f"FAILED: ks_build_info is {build}")
            rules = wait("the rules were evaluated", lambda: [
                rule for group in ask("rules")["groups"] for rule in group["rules"]
                if rule["lastEvaluation"] > "0002"])
            faults = [rule["name"] for rule in rules if rule["health"] != "ok"]
            if faults:
                sys.exit(f"FAILED: rules that cannot be evaluated: {faults}")
            print(f"Prometheus took {len(types)} families and evaluated {len(rules)} rules: passed")
        finally:
            for process in (server, coordinator):
                process.terminate()
                process.wait(30)
            logs.close()


main()
