"""Installed beside flashinfer-bench as sitecustomize.py: writing a file again with the same text keeps its
time, so that later processes do not recompile what an earlier one compiled."""
import pathlib

_write_text = pathlib.Path.write_text


def write_text(self, data, *arguments, **named):
    try:
        if self.read_text(*arguments, **named) == data:
            return len(data)
    except (OSError, ValueError, TypeError):
        pass
    return _write_text(self, data, *arguments, **named)


pathlib.Path.write_text = write_text
