"""Rows of results that outlive the command that wrote them: one JSON object per line, appended as results
arrive, so that the next command continues where a killed one stopped."""
import csv
import functools
import json
import os
import subprocess
import threading


# Outcomes that say nothing about a program: another command retries.
AGAIN = {"NO_RESULT", "WORKER_LOST", "CANCELLED"}
# Outcomes with times.
TIMED = {"PASSED", "pass"}


class Rows:
    """Rows by their field `key`; the last row of a key counts. Thread-safe."""

    def __init__(self, path, key):
        self._path = path
        self._key = key
        self._lock = threading.Lock()
        self._rows = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    try:
                        row = json.loads(line)
                        self._rows[row[key]] = row
                    except (ValueError, KeyError, TypeError):
                        continue  # the end of a command that was killed
        self._file = open(path, "a", encoding="utf-8")

    def has(self, key):
        """Returns whether there is a result."""
        return key in self._rows and self._rows[key].get("status") not in AGAIN

    def has_here(self, key):
        """Returns whether there is a result that counts on this machine: right programs were timed on
        some device, and the others are wrong on all."""
        row = self._rows.get(key, {})
        return self.has(key) and (row["status"] not in TIMED or row.get("device") == device_name())

    def get(self, key, default=None):
        return self._rows.get(key, default)

    def add(self, row):
        with self._lock:
            self._rows[row[self._key]] = row
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def all(self):
        with self._lock:
            return list(self._rows.values())

    def write_csv(self, path, fields):
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fields, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.all())


@functools.lru_cache(maxsize=None)
def device_name():
    """Returns the name of this machine's first GPU: times of others are not compared with its."""
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True,
                                text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return listed.stdout.split("\n", 1)[0].strip()


def out_path(name):
    """Returns a path in $OUT, or in the current folder."""
    return os.path.join(os.environ.get("OUT") or ".", name)
