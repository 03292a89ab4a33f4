"""Shared code of the scripts beside this one, which put the same cases to a published program, run
from a given checkout, and to ksearch_agreement_bench, and compare the answers."""

import argparse
import json
import math
import subprocess
import sys


def arguments(what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("checkout", help="folder of the published program's repository")
    parser.add_argument("--bench", default="build/dev/bin/ksearch_agreement_bench")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=100000, help="of each frequency")
    parser.add_argument("--cases", type=int, default=10000, help="random trees and traces")
    parser.add_argument("--show", type=int, default=3, help="differences that are printed in full")
    return parser


def ask(bench, cases):
    """The bench's answers to the cases, in their order."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([bench], input=text, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{bench} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _upper_gamma(a, x):
    """Regularized upper incomplete gamma function (DLMF 8.11.4 and 8.9.2)."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > abs(total) * 1e-15:
            n += 1
            term *= x / n
            total += term
        return 1 - total * scale
    b = x + 1 - a
    c = 1e300
    d = 1 / b
    h = d
    for i in range(1, 100000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b or 1e-300)
        c = b + an / c or 1e-300
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return scale * h


def chi_square(left, right):
    """(statistic, degrees of freedom, p) of the hypothesis that two samples of counts, by name, come
    from one distribution. Names with fewer than ten counts in both together are merged into one."""
    rare = [0, 0]
    cells = []
    for name in sorted(set(left) | set(right)):
        pair = (left.get(name, 0), right.get(name, 0))
        if sum(pair) < 10:
            rare = [rare[0] + pair[0], rare[1] + pair[1]]
        else:
            cells.append(pair)
    if sum(rare) > 0:
        cells.append(tuple(rare))
    totals = [sum(pair[side] for pair in cells) for side in (0, 1)]
    statistic = 0.0
    for pair in cells:
        for side in (0, 1):
            expected = sum(pair) * totals[side] / sum(totals)
            statistic += (pair[side] - expected) ** 2 / expected
    freedom = len(cells) - 1
    p = _upper_gamma(freedom / 2, statistic / 2) if freedom > 0 else 1.0
    return statistic, freedom, p


def report(name, left, right):
    """Prints a line on two samples of counts; returns p."""
    statistic, freedom, p = chi_square(left, right)
    print(f"{name:44} {sum(left.values()):7} draws  {freedom + 1:4} outcomes  "
          f"chi2 {statistic:8.1f}  p {p:.3f}")
    return p


def holm(results, level=0.01):
    """Names whose p is below the level after Holm's correction for their number."""
    ordered = sorted(results, key=lambda each: each[1])
    faults = []
    for i, (name, p) in enumerate(ordered):
        if p * (len(ordered) - i) >= level:
            break
        faults.append(name)
    return faults
