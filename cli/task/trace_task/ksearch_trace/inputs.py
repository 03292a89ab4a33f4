"""The inputs of the function, and the recipes by which workloads draw them."""

import inspect
import math
import numbers

from ksearch_trace.refused import Refused, place, words
from ksearch_trace.user_file import seed_all, shape_of_annotation

DTYPES = "float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 bool".split()
# The values that workloads draw by default, in words.
KINDS = {name: "normal with mean 0 and deviation 1" for name in DTYPES}
KINDS.update({name: "from -1024 to 1023" for name in ("int64", "int32", "int16")})
KINDS.update({"int8": "from -128 to 127", "bool": "true half of the time"})
TENSOR, NUMBER = "tensor", "number"
MOST_FLOAT32 = (2 - 2**-23) * 2.0**127
MOST_EXTENT = 1 << 31


def axes_text(axes):
    return ", ".join(f"{axis}={value}" for axis, value in axes.items())


def plain_number(where, value):
    """(value as a bool, int or float of Python that a task can hold, its dtype)."""
    if type(value).__module__ == "numpy" and not getattr(value, "ndim", 1):
        value = value.item()
    if isinstance(value, bool):
        return value, "bool"
    if isinstance(value, numbers.Integral):
        if not -(1 << 63) <= int(value) < 1 << 63:
            raise Refused(f"{where} is {value}, which is beyond int64")
        return int(value), "int64"
    if isinstance(value, numbers.Real):
        number = float(value)
        if not abs(number) <= MOST_FLOAT32:
            raise Refused(f"{where} is {number:g}, which is not a finite number of float32")
        return number, "float32"
    raise Refused(
        f"{where} is of type {type(value).__name__}; an input is a tensor or a number (bool, int or"
        " float)"
    )


class Described(list):
    """(name, TENSOR or NUMBER, shape or value, dtype) of each input at `axes`."""

    def __init__(self, entries, axes):
        super().__init__(entries)
        self.axes = axes


class Inputs:
    """As make_inputs, SHAPES or annotations of the user's file say."""

    def __init__(self, torch, path, module, chosen, dtype, assumed):
        self.torch = torch
        self.path = path
        self.module = module
        self.function = getattr(module, chosen)
        self.function_name = chosen  # __name__ may be another: of a lambda, of a decorator's
        self.line = f"{path}:{self.function.__code__.co_firstlineno}: {chosen}"
        self.assumed = assumed
        self.make_inputs = getattr(module, "make_inputs", None)
        if self.make_inputs is not None and dtype:
            raise Refused(f"--dtype: {path} defines make_inputs, which says what the dtypes are")
        self.dtype = dtype or "float32"
        self.has_list = False  # make_inputs returned its inputs in order
        self.recipes = {}  # of tensors, as they stand in workloads
        self.kept_defaults = {}  # of arguments that are no inputs

    def width(self, dtype):
        """Bytes of an element."""
        return self.torch.empty(0, dtype=getattr(self.torch, dtype)).element_size()

    def bytes(self, axes):
        return sum(
            math.prod(what) * self.width(dtype)
            for _, kind, what, dtype in self.of(axes)
            if kind == TENSOR
        )

    def torch_dtype(self, where, name):
        dtype = getattr(self.torch, name, None) if name in DTYPES else None
        if dtype is None:
            raise Refused(
                f"{where}: unknown dtype '{name}'; a task knows {', '.join(DTYPES)}"
                + (f", but torch {self.torch.__version__} has no {name}" if name in DTYPES else "")
            )
        return dtype

    def from_maker(self, axes):
        """(name, kind, shape or value, dtype) of each input, as make_inputs returns them."""
        line = f"{self.path}:{self.make_inputs.__code__.co_firstlineno}: make_inputs"
        taken = inspect.signature(self.make_inputs).parameters
        if not any(p.kind == p.VAR_KEYWORD for p in taken.values()):
            for axis in axes:
                if axis not in taken:
                    raise Refused(f"{line} takes no axis '{axis}' of --shapes")
            for axis, parameter in list(taken.items())[1:]:
                if axis not in axes and parameter.default is parameter.empty:
                    raise Refused(f"{line}: --shapes says nothing of the axis '{axis}'")
        parameters = inspect.signature(self.function).parameters
        made = self.made(1, axes)
        for name in made:
            if name not in parameters:
                raise Refused(f"{line} returned '{name}', which is not an argument of {self.line}")
        inputs = []
        first = not self.recipes
        for name, parameter in parameters.items():
            value = made.get(name)
            if value is None:
                self.keep_default(name, parameter, "make_inputs returns nothing for it")
            elif isinstance(value, self.torch.Tensor):
                dtype = str(value.dtype).replace("torch.", "")
                self.torch_dtype(f"{line}: '{name}'", dtype)
                inputs.append((name, TENSOR, tuple(value.shape), dtype))
                if value.is_floating_point() and not bool(self.torch.isfinite(value.double()).all()):
                    raise Refused(
                        f"{self.path}: make_inputs returned values for '{name}' that are infinite"
                        " or not numbers"
                    )
                self.recipes[name] = {"type": "random", "recipe": "make_inputs"}
            else:
                inputs.append((name, NUMBER) + plain_number(f"{line}: '{name}'", value))
        if self.has_list and any(kind == NUMBER for _, kind, _, _ in inputs):
            raise Refused(f"{line} returned numbers in a list: return a dict by argument")
        if first and self.recipes:
            self.check_seed(line, axes)
            self.assumed.append(
                "inputs are what make_inputs returns, with another seed for every content that a"
                " program sees; a confirmation cannot try other kinds of them (large values, heavy"
                " tails, zeros): let make_inputs draw several kinds where that matters"
            )
        return inputs

    def made(self, seed, axes):
        """The results of make_inputs, by argument."""
        line = f"{self.path}:{self.make_inputs.__code__.co_firstlineno}: make_inputs"
        parameters = inspect.signature(self.function).parameters
        seed_all(self.torch, seed)  # as the runner does
        try:
            made = self.make_inputs(seed, **axes)
        except BaseException as error:
            raise Refused(
                f"{place(self.path, error)}: make_inputs({axes_text(axes)}): {words(error)}"
            )
        if isinstance(made, dict):
            return made
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(made) > len(parameters):
            raise Refused(
                f"{line} returned {len(made)} inputs, {self.function_name} takes {len(parameters)}"
            )
        self.has_list = True
        return dict(zip(parameters, made))

    def check_seed(self, line, axes):
        """Inputs follow from the seed, and from it alone."""
        first, again, other = (self.made(seed, axes) for seed in (1, 1, 2))
        tensors = [name for name in self.recipes if isinstance(first.get(name), self.torch.Tensor)]

        def equal(one, two):
            return all(self.torch.equal(one[name], two[name]) for name in tensors)

        if not equal(first, again):
            raise Refused(
                f"{line} returns other tensors for the same seed: draw all random numbers from"
                " generators that are made from `seed`"
            )
        if equal(first, other):
            raise Refused(
                f"{line} returns the same tensors for every seed, so that programs could keep"
                " their answers: use `seed`"
            )
        for name in tensors:
            if first[name].numel() and self.torch.equal(first[name], other[name]):
                self.assumed.append(
                    f"'{name}' is the same for every seed, so that a program may have it built in"
                )

    def draw_made(self, inputs, seed, dtype):
        made = self.made(seed, inputs.axes)
        values = {}
        for name, kind, what, dtype_name in inputs:
            value = made.get(name)
            where = f"{self.path}: make_inputs({axes_text(inputs.axes)})"
            if kind == NUMBER:
                if plain_number(f"{where}: '{name}'", value)[0] != what:
                    raise Refused(f"{where}: '{name}' is {what}, then {value}: numbers must stay")
                values[name] = value
                continue
            own = getattr(self.torch, dtype_name)
            if tuple(value.shape) != what or value.dtype != own:
                raise Refused(
                    f"{where}: '{name}' is of shape {what} and dtype {own}, then of"
                    f" {tuple(value.shape)} and {value.dtype}: neither may depend on the seed"
                )
            if dtype and own.is_floating_point:
                # As numbers that a narrower type does not have.
                value = value.to(dtype) * (1 + 2.0**-30)
            values[name] = value
        return values

    def from_words(self, axes):
        """The same from SHAPES or annotations."""
        shapes = getattr(self.module, "SHAPES", {})
        dtypes = getattr(self.module, "DTYPES", {})
        parameters = inspect.signature(self.function).parameters
        for given, what in ((shapes, "SHAPES"), (dtypes, "DTYPES")):
            if not isinstance(given, dict):
                raise Refused(f"{self.path}: {what} must be a dict by argument")
            for name in given:
                if name not in parameters:
                    raise Refused(
                        f"{self.path}: {what} names '{name}', which is not an argument of"
                        f" {self.function_name}"
                    )
        inputs = []
        for name, parameter in parameters.items():
            shape = shapes.get(name, shape_of_annotation(parameter.annotation, axes))
            if name in shapes and not isinstance(shape, str):
                inputs.append(
                    (name, NUMBER) + plain_number(f"{self.path}: SHAPES of '{name}'", shape)
                )
            elif isinstance(shape, str):
                extents = tuple(self.extent(name, word, axes) for word in shape.split())
                dtype = str(dtypes.get(name, self.dtype)).replace("torch.", "")
                self.torch_dtype(f"{self.path}: '{name}'" if name in dtypes else "--dtype", dtype)
                inputs.append((name, TENSOR, extents, dtype))
                if name not in self.recipes:
                    self.recipes[name] = {"type": "random"}
                    self.assumed.append(f"'{name}' is drawn again for every check, {KINDS[dtype]}")
            elif isinstance(parameter.default, float):
                default = plain_number(f"{self.line}: the default of '{name}'", parameter.default)
                inputs.append((name, NUMBER) + default)
                self.assumed.append(f"'{name}' is its default {parameter.default:g} everywhere")
            else:
                self.keep_default(
                    name,
                    parameter,
                    'no shape is known: write SHAPES = {"'
                    + name
                    + '": "n d"} beside the function, or define make_inputs(seed, axes)',
                )
        return inputs

    def extent(self, name, word, axes):
        if word.isdecimal():
            if len(word) > 10 or not 0 < int(word) <= MOST_EXTENT:
                raise Refused(
                    f"{self.path}: '{name}' has the dimension {word}, which must be from 1 to"
                    f" {MOST_EXTENT}"
                )
            return int(word)
        if word in axes:
            return axes[word]
        raise Refused(
            f"{self.path}: '{name}' has the dimension '{word}', of which --shapes says nothing "
            f"(it has {', '.join(axes)})"
        )

    def keep_default(self, name, parameter, missing):
        if parameter.default is parameter.empty:
            raise Refused(f"{self.line}: argument '{name}': {missing}")
        self.kept_defaults[name] = parameter.default

    def of(self, axes):
        """(name, TENSOR or NUMBER, shape or value, dtype) of each, in the function's order."""
        return Described(self.from_maker(axes) if self.make_inputs else self.from_words(axes), axes)

    def draw(self, inputs, seed, dtype=None):
        """Values as the verifier draws them; floating ones in `dtype` if given."""
        if self.make_inputs:
            return self.draw_made(inputs, seed, dtype)
        torch = self.torch
        generator = torch.Generator().manual_seed(seed)
        values = {}
        for name, kind, what, dtype_name in inputs:
            if kind == NUMBER:
                values[name] = what
                continue
            recipe = self.recipes[name]
            own = getattr(torch, dtype_name)
            if own == torch.bool:
                value = torch.rand(what, generator=generator) < recipe.get("probability", 0.5)
            elif own.is_floating_point:
                value = torch.randn(what, generator=generator, dtype=torch.float64)
                if "float8" in dtype_name:
                    value = value.clamp(-2, 2)
                value = value * recipe.get("scale", 1) + recipe.get("offset", 0)
                value = value.to(dtype or own)
            else:
                low, high = (-128, 128) if own == torch.int8 else (-1024, 1024)
                value = torch.randint(low, high, what, generator=generator, dtype=own)
            values[name] = value
        return values
