"""Packages of Python's index for tests: a virtual environment in a folder of the build tree, made once."""

import fcntl
import pathlib
import subprocess
import sys

# The last versions seen to work. Later ones of wandb have no reader in Python any more. TensorBoard brings
# grpcio and protobuf along.
PACKAGES = ["wandb==0.19.11", "tensorboard==2.19.0", "setuptools<81"]
SECONDS = 300


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


def interpreter(folder, packages=PACKAGES):
    """The Python of a virtual environment in `folder` that has the packages. Ends the program with status 77, and the reason, where it cannot be had."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "env" / "bin" / "python"
    done = folder / "installed"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests may need it at once
        if done.exists() and done.read_text() == " ".join(packages):
            return python
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder / "env"], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                           check=True, capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            text = getattr(error, "stderr", b"") or b""
            skip(f"{', '.join(packages)} cannot be installed: {error} {text.decode()[-300:]}")
        done.write_text(" ".join(packages))
    return python
