#!/usr/bin/env python3
"""usage: ksearch_dispatch_bench | plot_decisions.py OUT.svg

Draws the cost of a scheduling decision for fleets of different sizes (the bench's lines decision_us), beside a
curve that grows with the square of the logarithm from the same first point.
"""

import math
import re
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 50, 30, 40
LINE = re.compile(r"^decision_us ([0-9.]+) \(.*, ([0-9]+) workers, ")


def read(lines):
    points = sorted((int(found[2]), float(found[1])) for found in map(LINE.match, lines) if found)
    if len(points) < 2:
        sys.exit("plot_decisions.py: no lines that begin with decision_us")
    return points


def draw(points):
    first, last = math.log10(points[0][0]), math.log10(points[-1][0])
    scale = points[0][1] / math.log(points[0][0]) ** 2
    curve = [(10 ** (first + (last - first) * i / 50), 0) for i in range(51)]
    curve = [(workers, scale * math.log(workers) ** 2) for workers, _ in curve]
    highest = math.ceil(max(cost for _, cost in points + curve))

    def place(workers, cost):
        x = LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(workers) - first) / (last - first)
        return f"{x:.1f},{HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * cost / highest:.1f}"

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="13">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for cost in range(0, highest + 1, max(1, highest // 6)):
        x, y = place(points[0][0], cost).split(",")
        parts.append(f'<path d="M{x},{y}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
                     f'<text x="{float(x) - 8}" y="{float(y) + 4}" text-anchor="end">{cost}</text>')
    for workers, cost in points:
        x, y = place(workers, cost).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#1f5fbf"/>'
                     f'<text x="{x}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{workers:,}</text>')
    measured = " ".join(place(*point) for point in points)
    squared = " ".join(place(*point) for point in curve)
    parts += [f'<polyline points="{squared}" fill="none" stroke="#999999" stroke-dasharray="6 4"/>',
              f'<polyline points="{measured}" fill="none" stroke="#1f5fbf" stroke-width="2"/>',
              f'<text x="{LEFT}" y="18">microseconds of processor time for a decision; dashed: as the logarithm '
              'squared</text>',
              f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">workers</text>', "</svg>"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    svg = draw(read(sys.stdin))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(svg)
