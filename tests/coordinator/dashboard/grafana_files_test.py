"""The files of deploy/grafana name only metrics that /metrics has; Prometheus accepts the rules.

usage: grafana_files_test.py SOURCE_ROOT
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    source = (root / "coordinator/dashboard/metrics/metrics_text.cc").read_text()
    known = set(re.findall(r'Family\(\s*"([a-z_]+)"', source))
    if len(known) < 15:
        sys.exit(f"only {len(known)} families were found in metrics_text.cc: correct this test")
    for histogram in re.findall(r'Family\(\s*"([a-z_]+)", "histogram"', source):
        known |= {f"{histogram}_{part}" for part in ("bucket", "sum", "count")}
    dashboard = json.loads((root / "deploy/grafana/dashboard.json").read_text())
    rules = root / "deploy/grafana/alerts.yml"
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions.append(re.sub(r"annotations:.*?(?=- alert|\Z)", "", rules.read_text(), flags=re.S))
    used = set()
    for expression in expressions:
        used |= set(re.findall(r"\b(?:ks|process)_[a-z_]+", expression))
    unknown = used - known
    if unknown:
        sys.exit(f"deploy/grafana names metrics that there are not: {sorted(unknown)}")
    if len(used) < 15:
        sys.exit(f"deploy/grafana names only {sorted(used)}")
    promtool = shutil.which("promtool")
    if promtool is None:
        print("promtool is not installed (Debian package prometheus): the rules are not checked")
        return
    for expression in expressions[:-1]:
        # Replaces Grafana's variables by numbers and strings that Prometheus accepts.
        query = expression.replace("$instance", ".*")
        probe = json.dumps({"groups": [{"name": "g", "rules": [{"record": "r", "expr": query}]}]})
        check(promtool, ["check", "rules", "/dev/stdin"], probe)
    check(promtool, ["check", "rules", str(rules)], "")


def check(promtool, arguments, text):
    done = subprocess.run([promtool, *arguments], input=text, capture_output=True, text=True,
                          timeout=30, check=False)
    if done.returncode != 0:
        sys.exit(f"promtool {arguments}: {done.stdout}{done.stderr}\n{text}")


if __name__ == "__main__":
    main()
