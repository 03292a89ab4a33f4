"""Prints with the time of day, so that the output of a script shows what takes long."""
import time


def say(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)
