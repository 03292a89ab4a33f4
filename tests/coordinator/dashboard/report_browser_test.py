#!/usr/bin/env python3
"""usage: report_browser_test.py REPORT_SAMPLE: opens a report in headless Chromium, from a file: its content is
shown as text, is never executed, and does not violate its own policy. Exit status 77 without Chromium."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def opened(browser, folder, url):
    """The document after its scripts, and the browser's messages about it."""
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
         f"--user-data-dir={folder}/profile", "--virtual-time-budget=5000", "--dump-dom", url],
        capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": folder})
    if done.returncode:
        sys.exit(f"FAILED: {browser}: {done.stderr[-1000:]}")
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("SKIPPED: there is no chromium")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.html"
        path.write_bytes(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)
        for place, words in (("", ["Best so far", "World model", "compile error", "Spending"]),
                             ("#/run/r/candidate/c1", ["Results", "Source", "The call it came from"])):
            document, console = opened(browser, folder, path.as_uri() + place)
            body = document[document.index("<main"):document.index("<noscript")]
            for word in words[:2] if place == "" else words:
                if word not in body:
                    sys.exit(f"FAILED: {place or 'the run'} shows no {word!r}: {body[:2000]}")
            if "<title>ksearch report</title>" not in document or "<img" in body or "<script" in body:
                sys.exit(f"FAILED: {place or 'the run'}: a text became HTML")
            if body.count("&lt;/script&gt;") < 4:
                sys.exit(f"FAILED: {place or 'the run'}: hostile texts are not shown as text")
            if console:
                sys.exit(f"FAILED: {place or 'the run'}: {console}")
    print("the report in a browser: passed")


main()
