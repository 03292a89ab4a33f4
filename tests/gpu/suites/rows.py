"""Rows of results that outlive the command that wrote them: one JSON object per line, appended as results
arrive, so that the next command continues where a killed one stopped."""
import csv
import json
import os
import threading


# Outcomes that say nothing about a program: another command retries.
AGAIN = {"NO_RESULT", "WORKER_LOST", "CANCELLED"}


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


def out_path(name):
    """Returns a path in $OUT, or in the current folder."""
    return os.path.join(os.environ.get("OUT") or ".", name)
