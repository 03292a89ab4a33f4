

# ---- Objects as what they hold, and made again from it: of classes in Python and of torch.nn, named tuples.
import collections as _collections
import enum as _enum
import functools as _functools
import types as _types

import torch as _torch

_GROUPS = {"parameters": "_parameters", "buffers": "_buffers", "modules": "_modules"}


@_functools.lru_cache(None)
def class_at(module, name):
    found = module_of(module)  # in each program its own
    for part in name.split("."):
        found = getattr(found, part)
    return found


@_functools.lru_cache(None)
def slots_of(cls):
    """The names of the attributes of its objects that are not in their __dict__."""
    found = []
    for base in cls.__mro__:
        own = vars(base).get("__slots__", ())
        for slot in (own,) if isinstance(own, str) else own:
            private = slot.startswith("__") and not slot.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{slot}" if private else slot)
    return [slot for slot in found if slot not in ("__dict__", "__weakref__")]


def can_be_made(cls):
    """Whether its objects hold nothing but attributes that Python sees."""
    if cls in (_types.SimpleNamespace, _collections.OrderedDict, _torch.Size):
        return True
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    try:
        object.__new__(cls)
    except TypeError:
        return False
    return cls is not object


def form_of(value):
    """How an object is made again, as JSON; together with its state_of."""
    cls = type(value)
    form = {"class": [cls.__module__, cls.__qualname__]}
    if isinstance(value, _torch.nn.Module):
        form["training"] = value.training
        for group, where in _GROUPS.items():
            form[group] = list(vars(value)[where])
        form["trained"] = [name for name, part in value._parameters.items() if part is not None and part.requires_grad]
        form["unsaved"] = sorted(value._non_persistent_buffers_set)
    return form


def state_of(value):
    """What an object holds: a tuple, or a dict by attribute or key."""
    if isinstance(value, tuple):
        return tuple(value)
    if isinstance(value, dict):
        return dict(value)
    held = {slot: getattr(value, slot) for slot in slots_of(type(value)) if hasattr(value, slot)}
    held.update(getattr(value, "__dict__", {}))
    if isinstance(value, _torch.nn.Module):
        held = {name: part for name, part in held.items() if name not in vars(_torch.nn.Module())}
        for where in _GROUPS.values():
            held.update(vars(value)[where])
    return held


def made_again(form, state):
    """An object like that of this form, by none of the methods of its class."""
    cls = class_at(*form["class"])
    if cls in (_torch.Size, _collections.OrderedDict):
        return cls(state)
    if isinstance(state, tuple):
        return tuple.__new__(cls, state)
    made = cls() if cls is _types.SimpleNamespace else object.__new__(cls)
    if "training" in form:
        vars(made).update(vars(_torch.nn.Module()))
        vars(made)["training"] = form["training"]
        vars(made)["_non_persistent_buffers_set"] = set(form["unsaved"])
    groups = {name: vars(made)[where] for group, where in _GROUPS.items() for name in form.get(group, [])}
    slots = slots_of(cls)
    for name, part in state.items():
        if name in form.get("parameters", []) and part is not None:
            part = _torch.nn.Parameter(part, requires_grad=name in form["trained"])
        if name in groups:
            groups[name][name] = part
        elif name in slots:
            object.__setattr__(made, name, part)
        else:
            vars(made)[name] = part
    return made


def constant_of(value):
    """A value without parts as JSON; TypeError if it is none."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, _enum.Enum):
        return {"member": value.name, "class": [type(value).__module__, type(value).__qualname__]}
    if isinstance(value, _torch.dtype):
        return {"dtype": str(value).rpartition(".")[2]}
    if isinstance(value, _torch.device):
        return {"device": None}
    raise TypeError(type(value).__name__)


def constant_value(constant, tensors):
    if not isinstance(constant, dict):
        return constant
    if "member" in constant:
        return class_at(*constant["class"])[constant["member"]]
    if "dtype" in constant:
        return getattr(_torch, constant["dtype"])
    return tensors[0].device  # all are where the task runs
