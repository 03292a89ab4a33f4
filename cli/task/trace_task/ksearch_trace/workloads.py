"""Which workloads a task gets beside those asked for."""

import math

from ksearch_trace.refused import Refused

LARGE_BYTES = 512 << 20  # most bytes of all inputs of a workload that is not asked for


def uuid_of(axes):
    return "_".join(f"{axis}{value}" for axis, value in axes.items())


def prime_below(value):
    for candidate in range(value - 1, 1, -1):
        if all(candidate % divisor for divisor in range(2, math.isqrt(candidate) + 1)):
            return candidate
    return 2


def nearby(traced, base, axis, wanted, step):
    """The first value from `wanted` on that is taken for this axis, the others as in base."""
    for value in [wanted] + [base[axis] + step * (1 << k) for k in range(1, 10)]:
        if value >= 1 and value != base[axis] and traced.takes(dict(base, **{axis: value})):
            return value
    return None


def with_odd_values(traced, base, wanted, step):
    axes = dict(base)
    for axis, value in base.items():
        found = nearby(traced, base, axis, wanted(value), step)
        if found is None:
            traced.assumed.append(
                f"the function accepts no value of '{axis}' near {value}, so it keeps {value}"
            )
        else:
            if found != wanted(value):
                traced.assumed.append(
                    f"'{axis}' = {wanted(value)} is not accepted; {found} is used instead"
                )
            axes[axis] = found
    return axes if axes != base and traced.takes(axes) else None


def choose_workloads(traced, given):
    """(axes, held out) in order."""
    chosen = [(axes, False) for axes in given]
    largest = max(given, key=traced.inputs.bytes)

    def add(axes, held_out, why):
        if axes is None or any(axes == other for other, _ in chosen):
            return
        chosen.append((axes, held_out))
        traced.assumed.append(f"workload {uuid_of(axes)} is added: {why}")

    add(with_odd_values(traced, given[0], lambda v: v + 1, 1), False, "one more than given")
    add(
        with_odd_values(traced, largest, prime_below, -3),
        True,
        "held out; primes, or the nearest values that the function accepts",
    )
    add(
        with_odd_values(traced, given[-1], lambda v: v - 1, -1),
        True,
        "held out; one less than given",
    )
    for axis in given[0]:
        larger = dict(largest, **{axis: 2 * largest[axis]})
        if traced.inputs.bytes(larger) <= LARGE_BYTES and traced.takes(larger):
            add(larger, True, f"held out; twice as large in '{axis}'")
            break
    else:
        traced.assumed.append(
            "no workload larger than those given fits into 512 MiB of inputs, so none is held out"
        )
    if not any(held_out for _, held_out in chosen):
        if len(chosen) == 1:
            raise Refused(
                "--shapes: one workload must be held out, but the function takes no other value of"
                " any axis: give two values for one"
            )
        chosen[-1] = (chosen[-1][0], True)
        traced.assumed.append(
            f"workload {uuid_of(chosen[-1][0])} is held out: no other could be added"
        )
    return chosen
