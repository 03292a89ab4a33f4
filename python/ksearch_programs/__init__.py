"""The programs of ksearch as a wheel installs them; pip makes a command of each function below."""

import os
import sys

_BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def _become(program):
    path = os.path.join(_BIN, program)
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{program}: cannot start {path}: {error.strerror}")


def ksearch():
    _become("ksearch")


def ksearch_coordinator():
    _become("ksearch-coordinator")


def ksearch_autoscaler():
    _become("ksearch-autoscaler")


def ksearch_worker():
    _become("ksearch-worker")


def ksearch_model_server():
    _become("ksearch-model-server")
