"""Tolerance and work of a task."""

import math

# Torch sums in blocks; honest programs that sum one element after another are less exact.
OTHER_ORDER = 4.8e-7


def rounded(value):
    return float(f"{value:.2g}")


def rounded_up(value):
    """Two digits, never less."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.2g}")


def product(factor, shape):
    return " * ".join([str(factor)] + list(shape))


def flops_formula(counts, values_of):
    """ "2 * m * n * k" where the counts are such a product; else empty."""
    axes = list(values_of[0])
    for powers in range(3 ** min(len(axes), 6)):
        chosen = []
        rest = powers
        for axis in axes[:6]:
            chosen += [axis] * (rest % 3)
            rest //= 3
        ratios = [c / math.prod(v[a] for a in chosen) for c, v in zip(counts, values_of)]
        if chosen and max(ratios) - min(ratios) <= 1e-9 * max(ratios) and ratios[0] >= 1:
            if abs(ratios[0] - round(ratios[0])) < 1e-9:
                return product(round(ratios[0]), chosen)
    return ""


def tolerance_of(torch, dtypes, facts, assumed):
    """The error that an honest program may have, derived from the function's own error."""
    floating = [name for name in dtypes if getattr(torch, name).is_floating_point]
    if not floating:
        assumed.append("every result is of whole numbers or bool, so they must be equal")
        return {"atol": 0, "rtol": 0}, "No result is floating: every element must be equal."
    rounding = max(torch.finfo(getattr(torch, name)).eps for name in floating)
    rms = max(f["rms"] for f in facts)
    absolute = max(f["absolute"] for f in facts)
    yardstick = rounded_up(max(rms, rounding / 4) + OTHER_ORDER)
    notes = (
        f"Measured by ksearch task new with torch {torch.__version__}: the function against itself"
        f" with inputs in float64 is off by {rms:.2g} (relative RMS error) and {absolute:.2g} (one"
        " element) at most, over all workloads. rms_yardstick is that RMS error, but at least a"
        f" quarter of the rounding of a result ({rounding:.2g}), and {OTHER_ORDER:.2g} more, four"
        " roundings of float32, for programs that sum in another order than torch; rtol is 100"
        " times rms_yardstick, atol 8 times the largest error of one element."
    )
    return {
        "atol": rounded_up(max(8 * absolute, 1e-12)),
        "rtol": rounded_up(100 * yardstick),
        "max_rms_error_ratio": 8,
        "rms_yardstick": yardstick,
    }, notes
