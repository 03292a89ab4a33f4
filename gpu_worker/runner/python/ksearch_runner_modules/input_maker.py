"""Calls of make_inputs, by which a task's own file makes the inputs of its workloads."""

import inspect
import random
import sys

from ksearch_runner_modules.returning_call import check_returned

MAKE_INPUTS = "make_inputs"
AXIS = "axis:"  # what names of axes begin with, among the arguments of make_inputs


class InputMaker:
    """Calls of make_inputs; `file` is its name in messages.

    What it makes without naming a device is made on the task's, since that may take a hundredth of the
    time. Where the first call on a workload fails so, as with a generator of random numbers of another
    device, its inputs are made on processors. The distributions are the same, the numbers are not.
    """

    def __init__(self, torch, make, file, device):
        self._torch = torch
        self._make = make
        self._file = file
        self._device = device
        # torch 1 has no default device.
        self._usual = device.name if hasattr(torch.device, "__enter__") else None
        # By axes: whether it can be done there. Another place gives other numbers for the same seed.
        self._there = {}
        taken = inspect.signature(make).parameters.values()
        self._takes_all = any(p.kind == p.VAR_KEYWORD for p in taken)
        self._taken = [p.name for p in taken]

    def call(self, names, values):
        """One call on arguments as python_interface.h orders them."""
        axes, scalars, tensors = {}, {}, {}
        for name, value in zip(names[1:], values[1:]):
            if name.startswith(AXIS):
                axes[name[len(AXIS) :]] = value
            else:
                (tensors if isinstance(value, self._torch.Tensor) else scalars)[name] = value
        if not self._takes_all:
            axes = {name: value for name, value in axes.items() if name in self._taken}
        made = self._made(int(values[0]), axes)
        if not isinstance(made, dict):
            made = made if isinstance(made, (tuple, list)) else (made,)
            if len(made) != len(tensors) or scalars:
                raise TypeError(
                    f"{MAKE_INPUTS} in {self._file} returned {len(made)} values: return a dict "
                    f"with these inputs: {', '.join([*tensors, *scalars])}"
                )
            made = dict(zip(tensors, made))
        for name, value in scalars.items():
            given = made.get(name, value)
            if abs(given - value) > 1e-6 * abs(value):
                raise ValueError(
                    f"{MAKE_INPUTS} in {self._file} returned {given} for '{name}', but the "
                    f"workload has {value}: numbers stay as the workload has them"
                )
        for name, tensor in tensors.items():
            value = made.get(name)
            check_returned(
                self._torch, MAKE_INPUTS, self._file, name, value, tensor, "the definition says"
            )
            tensor.copy_(value)
        # Others need the room.
        made = value = None
        self._device.forget()

    def _made(self, seed, axes):
        workload = tuple(axes.items())
        if self._usual is not None and self._there.get(workload, True):
            try:
                self._begin(seed)
                with self._torch.device(self._usual):
                    made = self._make(seed, **axes)
                self._there[workload] = True
                return made
            except Exception:
                if workload in self._there:
                    raise
                self._there[workload] = False
        self._begin(seed)
        return self._make(seed, **axes)

    def _begin(self, seed):
        """Sets the global generators."""
        random.seed(seed)
        self._torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)  # it takes no larger one
