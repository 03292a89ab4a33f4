#!/usr/bin/env python3
"""Runs the commands that documents show, so that documents stay correct.

usage: run_documents.py SOURCE_ROOT BIN_DIR PAGE.md [GROUP]

A fenced block is run if the line before it is

    <!-- run -->                        the block belongs to no group
    <!-- run GROUP -->                  the block belongs to GROUP
    <!-- run, exit 7 -->                its last command has to end with this code; the others with 0
    <!-- run, with A=B C=D -->          A is replaced by B in the block before it is run

A comment from a line "<!-- setup" to a line "-->" is run as well, with the blocks without a group; readers
do not see it. A setup that is impossible on this machine ends with `exit 77`: the test is skipped.

Blocks of one group are one bash session in an empty folder that holds links to configs/ and results/; a
line that begins with "$ " is a command and all others of such a block are output. Programs are those of
BIN_DIR. `--local`, `up` and `down` get a state folder of the test's own, port 8099 becomes a free one, also in the
coordinator's configuration, a coordinator listens on a free port, and `coord.example:7400` and `127.0.0.1:7400` are
where it listens.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

MARK = re.compile(r"<!-- run(?: ([a-z]+))?(?:, exit (\d+))?(?:, with ([^>]*?))? -->$")
SECONDS = 540

# Shell functions that replace the programs. Clients dial the documents' host names on loopback, so the
# certificate has to contain that name, too.
PRELUDE = r"""
set -u
address() {
  for _ in $(seq 200); do [ -s ksearch-state/address ] && break; sleep 0.1; done
  cat ksearch-state/address
}
ksearch() {
  local words=("$@") local_mode=no
  for word in "$@"; do
    case $word in --local | up | down) local_mode=yes ;; esac
  done
  [ $local_mode = no ] || words+=(--state-dir "$KSEARCH_TEST_STATE")
  case "$1 ${2:-}" in 'pki issue') words+=(--server 127.0.0.1) ;; esac
  case ${KSEARCH_COORDINATOR:-} in
    coord.example:* | 127.0.0.1:7400) KSEARCH_COORDINATOR=$(address) ;;
  esac
  command ksearch "${words[@]}"
}
ksearch-coordinator() {
  local words=()
  for word in "$@"; do
    if [ -f "$word" ] && grep -q 8099 "$word"; then
      sed "s/8099/$KSEARCH_TEST_PORT/" "$word" >with-free-port.textproto
      word=with-free-port.textproto
    fi
    words+=("$word")
  done
  exec_in_place ksearch-coordinator "${words[@]}" --listen 127.0.0.1:0
}
ksearch-worker() {
  local words=()
  for word in "$@"; do
    case $word in coord.example:* | 127.0.0.1:7400) words+=("$(address)") ;; *) words+=("$word") ;; esac
  done
  exec_in_place ksearch-worker "${words[@]}" --state-dir worker-state
}
# These only ever run in the background, where a shell of their own may become the program.
exec_in_place() { exec "$@" >"$1.log" 2>&1; }
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def blocks(path, group):
    """The blocks to run: (line number, expected exit code, text)."""
    found = []
    lines = open(path, encoding="utf-8").read().split("\n")
    for number, line in enumerate(lines, 1):
        if line == "<!-- setup" and not group:
            found.append((number, 0, "\n".join(lines[number:lines.index("-->", number)])))
        if not line.startswith("<!-- run"):
            continue
        mark = MARK.match(line.strip())
        if mark is None:
            raise SystemExit(f"{path}:{number}: not understood: {line}")
        if not lines[number].startswith("```"):
            raise SystemExit(f"{path}:{number + 1}: a fenced block must follow the mark")
        end = lines.index("```", number + 1)
        body = lines[number + 1:end]
        if any(text.startswith("$ ") for text in body):
            body = [text[2:] for text in body if text.startswith("$ ")]
        text = "\n".join(body)
        for change in (mark[3] or "").split():
            old, new = change.split("=", 1)
            if old not in text:
                raise SystemExit(f"{path}:{number}: '{old}' is not in the block")
            text = text.replace(old, new)
        if (mark[1] or "") == group:
            found.append((number, int(mark[2] or 0), text))
    return found


def run(root, bin_dir, page, group):
    todo = blocks(os.path.join(root, page), group)
    if not todo:
        raise SystemExit(f"{page}: nothing to run in group '{group}'")
    folder = tempfile.mkdtemp(prefix="ksearch-docs-")
    os.chmod(folder, 0o755)  # a worker of root becomes another account
    state = os.path.join(folder, "state")
    work = os.path.join(folder, "work")
    os.mkdir(work)
    for name in ("configs", "results"):
        os.symlink(os.path.join(root, name), os.path.join(work, name))
    environment = dict(os.environ, PATH=f"{bin_dir}:{os.environ['PATH']}", KSEARCH_TEST_STATE=state)
    for name in list(environment):  # the user's models and coordinators
        if name.startswith("KSEARCH_") and name != "KSEARCH_TEST_STATE" or name.endswith("_API_KEY"):
            del environment[name]
    environment["OPENAI_API_KEY"] = "sk-not-a-key"
    port = str(free_port())
    environment["KSEARCH_TEST_PORT"] = port
    script = [PRELUDE]
    for number, code, text in todo:
        # Checks each line's exit code; the last one's may differ.
        commands = text.replace("\\\n", " ").replace("8099", port).split("\n")
        commands = [one for one in commands if one.strip() and not one.startswith("#")]
        for index, one in enumerate(commands):
            expected = code if index == len(commands) - 1 else 0
            script.append(f"echo '+ '{shell_quote(one)}\n{one}\n"
                          f"status=$?; if [ $status != {expected} ]; then echo '{page}:{number}: ended with '"
                          f"\"$status, not {expected}\"; exit 1; fi")
    process = subprocess.Popen(["bash", "-c", "\n".join(script)], cwd=work, env=environment,
                               start_new_session=True, stdin=subprocess.DEVNULL)
    try:
        return process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{page}: not done after {SECONDS} s", file=sys.stderr)
        return 1
    finally:
        subprocess.run([os.path.join(bin_dir, "ksearch"), "down", "--now", "--state-dir", state],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        try:
            os.killpg(process.pid, signal.SIGTERM)  # what the page started in the background
        except ProcessLookupError:
            pass
        for name in sorted(os.listdir(work)):
            if name.endswith(".log") and process.returncode != 0:
                print(f"-- {name}", file=sys.stderr)
                sys.stderr.write(open(os.path.join(work, name), encoding="utf-8").read()[-2000:])
        shutil.rmtree(folder, ignore_errors=True)


def shell_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        raise SystemExit(__doc__)
    sys.exit(run(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3],
                 sys.argv[4] if len(sys.argv) == 5 else ""))
