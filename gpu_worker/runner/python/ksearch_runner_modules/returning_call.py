"""Calls of programs that return their outputs, and the check of what programs return."""

ENTRY = "run"


# The verifier knows these names (runner_reply.cc).
class ReturnedCountError(TypeError):
    pass


class ReturnedTypeError(TypeError):
    pass


class ReturnedShapeError(TypeError):
    pass


class ReturnedDtypeError(TypeError):
    pass


def kind_of(tensor):
    return f"shape {tuple(tensor.shape)} and dtype {tensor.dtype}"


def check_returned(torch, entry, file, name, value, wanted, otherwise):
    """Raises unless `value`, returned by `entry` for `name`, is a tensor like `wanted`."""
    if not isinstance(value, torch.Tensor):
        raise ReturnedTypeError(
            f"{entry} in {file} returned a value of type {type(value).__name__} for '{name}': "
            f"return a tensor of {kind_of(wanted)}"
        )
    if value.shape != wanted.shape or value.dtype != wanted.dtype:
        other_shape = value.shape != wanted.shape
        raise (ReturnedShapeError if other_shape else ReturnedDtypeError)(
            f"{entry} in {file} returned a tensor of {kind_of(value)} for '{name}': "
            f"{otherwise} {kind_of(wanted)}"
        )


class ReturningCall:
    """A call of a program that returns its outputs; `file` is its name in messages. `args`: the
    program's arguments, as in functools.partial."""

    def __init__(self, torch, run, file, inputs, outputs, names):
        self._torch = torch
        self._run = run
        self._file = file
        self.args = inputs
        self._outputs = outputs
        self._names = names
        self._kept = None

    def __call__(self):
        self._copy(self._checked(self._run(*self.args)))

    def copy(self):
        """Alternates between making results and keeping them, and copying and dropping them."""
        if self._kept is None:
            self.keep(self._run(*self.args))
        else:
            kept, self._kept = self._kept, None
            self._copy(kept)

    def _copy(self, results):
        for result, output in zip(results, self._outputs):
            output.copy_(result)

    def keep(self, results):
        """Keeps what the program returned, for `copy`."""
        self._kept = self._checked(results)

    def _as_tensor(self, result, output):
        """A number that a program returns for an output without dimensions, as a tensor."""
        if not isinstance(result, (bool, int, float)) or output.dim() > 0:
            return result
        return self._torch.tensor(result, dtype=output.dtype, device=output.device)

    def _checked(self, results):
        if isinstance(results, dict):
            raise ReturnedTypeError(
                f"{ENTRY} in {self._file} returned a dict: "
                f"return a tuple with the outputs in this order: {', '.join(self._names)}"
            )
        if not isinstance(results, (tuple, list)):
            results = (results,)
        if len(results) != len(self._outputs):
            raise ReturnedCountError(
                f"{ENTRY} in {self._file} returned {len(results)} values: "
                f"return one tensor for each output, in this order: {', '.join(self._names)}"
            )
        results = [self._as_tensor(*pair) for pair in zip(results, self._outputs)]
        for name, result, output in zip(self._names, results, self._outputs):
            check_returned(
                self._torch, ENTRY, self._file, name, result, output, "return one of"
            )
        return results
