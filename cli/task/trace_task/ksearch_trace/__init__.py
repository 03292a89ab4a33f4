"""Turns a torch function into a task: the program behind `ksearch task new`."""
