"""What describe_module.py and gpumode/python/describe_problem.py share. It precedes either in its program."""

import contextlib
import json
import os
import signal
import traceback

MOST_READING = 60
# What the messages of exceptions say where there is no network.
NO_NETWORK = ("name resolution", "Name or service not known", "Network is unreachable")


class Refused(Exception):
    """Why a problem cannot be a task."""


@contextlib.contextmanager
def reading_ends():
    """A file that waits or loops at its top level is refused soon: measurements wait for this process."""

    def refuse(*_):
        raise Refused(f"its file was not read to the end within {MOST_READING} s: does it loop at its top level?")

    before = signal.signal(signal.SIGALRM, refuse)
    # Again and again: the file may catch what is raised.
    signal.setitimer(signal.ITIMER_REAL, MOST_READING, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def place_of(error):
    """The innermost line of the problem's files, which are beside this program, that an exception passed."""
    own = os.path.abspath(__file__)
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = os.path.abspath(frame.f_code.co_filename)
        if path != own and path.startswith(os.path.dirname(own) + os.sep) and os.path.isfile(path):
            place = f" ({os.path.basename(path)}, line {line})"
    return place


def answer_or_error(describe):
    """What describe() returns, or {"error"}."""
    try:
        return describe()
    except Refused as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "the problem does not fit into 16 GiB"}
    except BaseException as error:  # whatever the problem's files do
        text = str(error)
        advice = "; problems run without a network" if any(words in text for words in NO_NETWORK) else ""
        return {"error": f"{type(error).__name__}: {text[:500]}{place_of(error)}{advice}"}


def print_description(describe):
    """Prints what describe() returns, and nothing of what the problem prints meanwhile."""
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    text = json.dumps(describe(), ensure_ascii=True, allow_nan=False)
    answers.write("\nksearch-description: " + text + "\n")
    answers.flush()


