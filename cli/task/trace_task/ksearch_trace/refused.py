"""An error in the user's file, with its position."""

import os
import traceback


class Refused(Exception):
    """Ends the work; its text is for the user."""


def place(path, error):
    """ "file:line" of the last line of the user's file that an exception passed."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.abspath(frame.filename) == os.path.abspath(path)
    ]
    return f"{path}:{lines[-1]}" if lines else path


def words(error):
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
