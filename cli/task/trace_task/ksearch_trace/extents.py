"""Extents of tensors as axes of a task."""


class Extents:
    """Names the extents of tensors: an axis, a constant, or an axis that follows from others."""

    def __init__(self, probes, taken_names, assumed):
        self.probes = probes  # (axes, shapes of every tensor)
        self.axes = {axis: tuple(p[axis] for p, _ in probes) for axis in probes[0][0]}
        self.definition = {axis: {"type": "var"} for axis in self.axes}
        self.derived = {}  # name -> values in the order of probes
        self.used = set()
        self.taken_names = set(taken_names) | set(self.axes)
        self.assumed = assumed

    def fresh(self, name):
        while name in self.taken_names:
            name += "_"
        self.taken_names.add(name)
        return name

    def name(self, tensor, index, dimension):
        values = tuple(shapes[index][dimension] for _, shapes in self.probes)
        for axis, column in {**self.axes, **self.derived}.items():
            if column == values:
                self.used.add(axis)
                return axis
        if len(set(values)) == 1:
            for axis, facts in self.definition.items():
                if facts.get("value") == values[0]:
                    return axis
            axis = self.fresh(f"size_{values[0]}")
            self.definition[axis] = {"type": "const", "value": values[0]}
            return axis
        axis = self.fresh(f"{tensor}_dim{dimension}")
        formula = self.formula(values)
        self.derived[axis] = values
        self.definition[axis] = {
            "type": "var",
            "description": formula or "follows from the other axes",
        }
        self.assumed.append(
            f"dimension {dimension} of '{tensor}' is {formula}"
            if formula
            else (
                f"dimension {dimension} of '{tensor}' follows from the axes by no formula that was"
                " found; its value stands in every workload"
            )
        )
        return axis

    def formula(self, values):
        """ "2 * n" where such a formula fits every probe; else empty."""
        for axis, column in self.axes.items():
            if 0 in column:
                continue
            if len({v / c for v, c in zip(values, column)}) == 1:
                ratio = values[0] / column[0]
                return f"{ratio:g} * {axis}" if ratio > 1 else f"{axis} / {1 / ratio:g}"
            if len({v - c for v, c in zip(values, column)}) == 1:
                difference = values[0] - column[0]
                return f"{axis} {'+' if difference > 0 else '-'} {abs(difference)}"
            for other, more in self.axes.items():
                if all(v == c * m for v, c, m in zip(values, column, more)):
                    return f"{axis} * {other}"
                if all(v == c + m for v, c, m in zip(values, column, more)):
                    return f"{axis} + {other}"
        return ""

    def of_probe(self, index):
        """Values of the variable axes."""
        values = {axis: self.probes[index][0][axis] for axis in self.axes}
        values.update({axis: column[index] for axis, column in self.derived.items()})
        return values
