"""Calls of the user's function, and what they show."""

import time

from ksearch_trace.inputs import TENSOR, axes_text
from ksearch_trace.refused import Refused, place, words


class TracedFunction:
    def __init__(self, torch, path, function, inputs, assumed):
        self.torch = torch
        self.path = path
        self.function = function
        self.function_name = inputs.function_name
        self.twin = None  # the same function of the file imported with other random values
        self.line = inputs.line
        self.inputs = inputs
        self.assumed = assumed
        self.has_floats = False  # some input is floating
        self.returns_tuple = False

    def call(self, values, axes, why="", function=None):
        try:
            with self.torch.no_grad():
                results = (function or self.function)(**values)
        except BaseException as error:  # SystemExit too
            raise Refused(
                f"{place(self.path, error)}: {self.function_name} at {axes_text(axes)}{why}:"
                f" {words(error)}"
            )
        self.returns_tuple = isinstance(results, (tuple, list))
        if not self.returns_tuple:
            results = (results,)
        for i, result in enumerate(results):
            if not isinstance(result, self.torch.Tensor):
                raise Refused(
                    f"{self.line}: result {i} is {type(result).__name__}, not a tensor; "
                    "a task's program returns one tensor or a tuple of tensors"
                )
        if not results:
            raise Refused(f"{self.line} returns nothing")
        return results

    def try_call(self, axes):
        """Shapes of inputs and outputs at these axes."""
        inputs = self.inputs.of(axes)
        results = self.call(self.inputs.draw(inputs, 1), axes)
        shapes = [tuple(what) for _, kind, what, _ in inputs if kind == TENSOR]
        return shapes + [tuple(result.shape) for result in results]

    def takes(self, axes):
        try:
            return self.try_call(axes)
        except Refused:
            return None

    def measure(self, axes):
        """One workload: checks what a task must keep to; errors against float64, and time."""
        inputs = self.inputs.of(axes)
        values = self.inputs.draw(inputs, 2)
        kept = {name: v.clone() for name, v in values.items() if hasattr(v, "clone")}
        results = self.call(values, axes)
        for name, value in kept.items():
            if not self.torch.equal(value, values[name]):
                raise Refused(f"{self.line} changes its argument '{name}': work on a copy of it")
        began = time.perf_counter()
        again = self.call(values, axes)
        seconds = time.perf_counter() - began
        other = self.call(self.inputs.draw(inputs, 3), axes)
        for i, result in enumerate(results):
            if result.shape != other[i].shape:
                raise Refused(
                    f"{self.line}: the shape of result {i} depends on the values of the inputs: at "
                    f"{axes_text(axes)} it is {tuple(result.shape)}, then {tuple(other[i].shape)}"
                )
            dtype = str(result.dtype).replace("torch.", "")
            self.inputs.torch_dtype(f"{self.line}: result {i}", dtype)
            if result.is_floating_point() and not bool(self.torch.isfinite(result).all()):
                raise Refused(
                    f"{self.line}: result {i} has values that are not finite at {axes_text(axes)},"
                    " for inputs as workloads draw them (N(0,1) unless make_inputs returns others)"
                )
            if not self.alike(again[i], result):
                raise Refused(
                    f"{self.line}: result {i} differs from call to call on the same inputs"
                )
        facts = {
            "seconds": seconds,
            "dtypes": [str(r.dtype).replace("torch.", "") for r in results],
        }
        facts["rms"], facts["absolute"] = 0.0, 0.0
        if any(r.is_floating_point() for r in results) and self.has_floats:
            exact = self.call(
                self.widened(values), axes, " with its inputs in float64, as the reference calls it"
            )
            for result, wide in zip(results, exact):
                if not result.is_floating_point():
                    continue
                oracle = wide.to(result.dtype).double()
                error = result.double() - oracle
                size = float(oracle.pow(2).mean().sqrt()) if oracle.numel() else 0.0
                if error.numel() and size > 0:
                    facts["rms"] = max(facts["rms"], float(error.pow(2).mean().sqrt()) / size)
                    facts["absolute"] = max(facts["absolute"], float(error.abs().max()))
        return facts

    def alike(self, result, other):
        result, other = result.double(), other.double()
        return result.shape == other.shape and bool((result - other).norm() <= 1e-3 * other.norm())

    def check_import(self, axes):
        """Refuses a function that uses values drawn at random when its file was imported."""
        if self.twin is None:
            return
        inputs = self.inputs.of(axes)
        results = self.call(self.inputs.draw(inputs, 2), axes)
        again = self.inputs.draw(inputs, 2)
        others = self.call(again, axes, ", imported a second time", self.twin)
        for i, result in enumerate(results):
            if i >= len(others) or not self.alike(others[i], result):
                raise Refused(
                    f"{self.line}: result {i} depends on random values that are drawn when the file"
                    " is imported, so that every process would have another task: make them inputs"
                    " of the function, or set the seed in the file"
                )

    def widened(self, values):
        return {
            name: v.double() if hasattr(v, "double") and v.is_floating_point() else v
            for name, v in values.items()
        }

    def check_precision(self, axes):
        """Says so if the function rounds inside whatever its inputs are."""
        values = self.inputs.draw(self.inputs.of(axes), 4, self.torch.float64)
        for i, wide in enumerate(self.call(values, axes, " with its inputs in float64")):
            if (
                wide.is_floating_point()
                and wide.numel()
                and bool((wide.float().double() == wide.double()).all())
            ):
                self.assumed.append(
                    f"result {i} looks rounded to float32 or less although the inputs are float64: "
                    "the reference is only as exact as the function makes it"
                )

    def flops(self, axes):
        """Operations of one call as torch counts them; None where it cannot."""
        try:
            from torch.utils.flop_counter import FlopCounterMode
        except ImportError:
            return None
        with FlopCounterMode(display=False) as counter:
            self.call(self.inputs.draw(self.inputs.of(axes), 5), axes)
        return counter.get_total_flops()
