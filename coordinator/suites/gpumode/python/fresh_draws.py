
# ---- Random numbers of more seeds than a problem can be given.
import contextlib as _contextlib
import functools as _functools
import hashlib as _hashlib
import random as _random

import torch as _torch

# What seeds are mixed with at present, and the least one that is mixed. Empty: none is.
_mixing = {}


def _mixed(seed, bits):
    if not _mixing or type(seed) is not int or seed < _mixing["least"]:
        return seed
    text = f"{_mixing['secret']} {seed}".encode()
    return int.from_bytes(_hashlib.blake2b(text, digest_size=8).digest(), "little") >> (64 - bits)


def _with_mixed(function, bits, first=0):
    """The function, whose argument number `first` is a seed."""

    @_functools.wraps(function)
    def seeded(*values, **named):
        values = [_mixed(value, bits) if i == first else value for i, value in enumerate(values)]
        return function(*values, **{name: _mixed(value, bits) for name, value in named.items()})

    return seeded


def _class_with_mixed(base, method, bits):
    return type(base.__name__, (base,), {method: _with_mixed(getattr(base, method), bits, first=1)})


@_functools.lru_cache(None)
def _seeded():
    """(owner, name, what stands there within fresh_draws): whatever generators of random numbers are seeded by.
    Made once: what a file imports by name within fresh_draws stays there."""
    found = [(_torch, "Generator", _class_with_mixed(_torch.Generator, "manual_seed", 63))]
    found.append((_random, "Random", _class_with_mixed(_random.Random, "seed", 63)))
    functions = [(_torch, "manual_seed", 63), (_random, "seed", 63)]
    functions += [(_torch.cuda, name, 63) for name in ("manual_seed", "manual_seed_all")]
    try:
        import numpy.random as draws

        found.append((draws, "RandomState", _class_with_mixed(draws.RandomState, "__init__", 32)))
        functions += [(draws, name, 32) for name in ("seed", "default_rng")]
    except ImportError:
        pass  # torch can do without
    return found + [(owner, name, _with_mixed(getattr(owner, name), bits)) for owner, name, bits in functions]


@_contextlib.contextmanager
def fresh_draws(seed, secret):
    """Within it, generators that are seeded with `seed` or more, as those are whose seeds a problem derives
    from its own, draw what depends on `secret` as well.

    A problem can be given so few seeds that a program could keep what it needs to know of each. Equal seeds
    still give equal numbers, and smaller ones, which files contain, give those that they always give.
    """
    saved = [(owner, name, getattr(owner, name)) for owner, name, _ in _seeded()]
    _mixing.update(least=seed, secret=secret)
    try:
        for owner, name, value in _seeded():
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in saved:
            setattr(owner, name, value)
        _mixing.clear()
