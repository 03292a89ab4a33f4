"""Do the presets of strategy openevolve choose parents and inspirations, and keep populations and
archives, as OpenEvolve does? Random populations, drawn from often by both, and random programs that
are added one by one.

    python3 bench/agreement/agree_with_openevolve.py CHECKOUT_OF_0.3.2 --preset oe-0.3
    python3 bench/agreement/agree_with_openevolve.py CHECKOUT_OF_0.2.25 --preset oe-ksearch

Sets of programs keep the order of arrival; in the original the order is that of hashes, which differs
between processes. The checkout's Python needs what the package openevolve needs."""

import base64
import copy
import logging
import random
import sys
from collections import Counter

from agreement import arguments, ask, holm, report

PRESETS = {
    "oe-0.3": dict(population_size=1000, archive_size=100, num_islands=5, exploration_ratio=0.2,
                   exploitation_ratio=0.7, elite_selection_ratio=0.1, migration_interval=50,
                   migration_rate=0.1),
    "oe-ksearch": dict(population_size=25, archive_size=12, num_islands=3, exploration_ratio=0.35,
                       exploitation_ratio=0.65, elite_selection_ratio=0.3, migration_interval=50,
                       migration_rate=0.1),
    "oe-tuned": dict(population_size=1000, archive_size=100, num_islands=5, exploration_ratio=0.2,
                     exploitation_ratio=0.7, elite_selection_ratio=0.1, migration_interval=10,
                     migration_rate=0.1),
}
INSPIRATIONS = {"oe-0.3": 2, "oe-ksearch": 3, "oe-tuned": 2}


class Ordered(dict):
    """A set in the order of arrival."""

    def add(self, value):
        self[value] = None

    def discard(self, value):
        self.pop(value, None)

    def remove(self, value):
        del self[value]


class Number(int):
    """A program's id: a number that messages can cut like a string."""

    def __getitem__(self, key):
        return str(int(self))[key]


class OnceInArchive:
    """Where ksearch differs: a program that took another's place in the archive is not put
    there a second time, which would drop the worst."""

    def _update_archive(self, program):
        if program.id not in self.archive:
            super()._update_archive(program)


class Original:
    def __init__(self, checkout, preset):
        sys.path.insert(0, checkout)
        logging.disable(logging.CRITICAL)
        from openevolve.config import DatabaseConfig
        from openevolve.database import Program, ProgramDatabase
        self.Program = Program
        self.Database = ProgramDatabase
        self.Repaired = type("Repaired", (OnceInArchive, ProgramDatabase), {})
        self.Config = DatabaseConfig
        self.preset = preset

    def new(self, repaired, **changes):
        settings = {**PRESETS[self.preset], **changes}
        config = self.Config(in_memory=True, db_path=None, log_prompts=False, random_seed=None,
                             **settings)
        database = (self.Repaired if repaired else self.Database)(config)
        database.islands = [Ordered() for _ in database.islands]
        database.archive = Ordered()
        return database

    def add(self, database, number, code, fitness, island):
        program = self.Program(id=Number(number), code=code, metrics={"combined_score": fitness})
        database.add(program, target_island=island)


def random_code(rng):
    alphabet = "abcdefghijklmnopqrstuvwxyz"[:rng.randrange(4, 27)]
    lines = ["".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 60)))
             for _ in range(rng.randrange(1, 30))]
    return "\n".join(lines)


def random_programs(rng, count, islands, failing):
    fitness = rng.sample(range(1, 10 * count), count)
    return [dict(number=i + 1, code=random_code(rng), island=rng.choice(islands),
                 fitness=0.0 if rng.random() < failing else fitness[i] / 100)
            for i in range(count)]


def features(code):
    bits = bytearray(32)
    for byte in code.encode():
        bits[byte // 8] |= 1 << (byte % 8)
    return {"characters": len(code), "lines": code.count("\n"),
            "characterSet": base64.b64encode(bytes(bits)).decode()}


def state_of(database):
    """The population as AttemptSearchState."""
    def span(name):
        stats = database.feature_stats.get(name)
        return {"known": True, "low": stats["min"], "high": stats["max"]} if stats else {}

    members, screened = [], {}
    for number, program in sorted(database.programs.items()):
        known = database.diversity_cache.get(hash(program.code))
        members.append({"number": number, "candidateId": str(number),
                        "island": program.metadata["island"], "features": features(program.code),
                        "diversity": known["value"] if known else -1,
                        "displaced": not any(number in island for island in database.islands)})
        fitness = program.metrics["combined_score"]
        screened[str(number)] = {"candidateId": str(number), "passed": fitness > 0,
                                 "score": fitness}
    by_code = {program.code: number for number, program in database.programs.items()}
    references = [{"candidateId": str(by_code.get(code, -i - 1)), "features": features(code)}
                  for i, code in enumerate(database.diversity_reference_set)]
    cells = [{"island": island, "complexity": int(key.split("-")[0]),
              "diversity": int(key.split("-")[1]), "owner": owner}
             for island, cells in enumerate(database.island_feature_maps)
             for key, owner in cells.items()]
    return {"log": {"screened": screened},
            "openevolve": {"members": members, "lastNumber": max(database.programs),
                           "archive": list(database.archive), "cells": cells,
                           "complexity": span("complexity"), "diversity": span("diversity"),
                           "referenceSet": references,
                           "generations": [0] * len(database.islands)}}


def population(original, rng, shape):
    islands = list(range(PRESETS[original.preset]["num_islands"]))
    used = islands[:-1] if shape == "an empty island" else islands
    changes = {"archive_size": 4} if shape == "a small archive" else {}
    database = original.new(repaired=True, **changes)
    count = {"many": 60}.get(shape, 24)
    for program in random_programs(rng, count, used, 0.25 if shape == "failures" else 0.0):
        original.add(database, program["number"], program["code"], program["fitness"],
                     program["island"])
    return database, changes


def key(programs, ordered):
    numbers = [program.id for program in programs]
    return " ".join(str(number) for number in (numbers if ordered else sorted(numbers)))


def compare_draws(original, options, version):
    results = []
    inspirations = INSPIRATIONS[original.preset]
    for shape in ("plain", "failures", "a small archive", "an empty island", "many"):
        rng = random.Random(f"{options.seed} {shape}")
        database, changes = population(original, rng, shape)
        settings = {"preset": original.preset}
        if changes:
            settings["archive"] = changes["archive_size"]
        state = state_of(database)
        case = {"case": "draws", "strategy": "openevolve", "settings": settings, "state": state,
                "draws": options.draws, "seed": options.seed}
        islands = [0, len(database.islands) - 1]
        for island in islands:
            random.seed(f"{options.seed} {shape} {island}")
            left = Counter()
            conditional = Counter()
            parent = None
            for _ in range(options.draws):
                # For an empty island the original first makes a program from a copy.
                drawn, shown = database.sample_from_island(island, inspirations)
                left[str(drawn.id)] += 1
                if version == "0.2":
                    parent = parent or drawn.id
                    if drawn.id == parent:
                        conditional[key(shown, False)] += 1
            [answer] = ask(options.bench, [{**case, "what": "parent", "island": island}])
            right = Counter()
            for name, count in answer.items():
                right[name.split()[1]] += count
            name = f"{shape}, island {island}: parent"
            results.append((name, report(name, left, right)))
            home = island if database.islands[island] or version == "0.2" else 0
            parents = [parent] if version == "0.2" else rng.sample(list(database.islands[home]), 2)
            for number in parents:
                if version != "0.2":
                    conditional = Counter()
                    for _ in range(options.draws):
                        conditional[key(database._sample_inspirations(
                            database.programs[number], n=inspirations, island_id=home), True)] += 1
                draws = sum(conditional.values())
                [answer] = ask(options.bench, [
                    {**case, "what": "inspirations", "island": home, "parent": number,
                     "draws": draws}])
                right = Counter()
                for shown, count in answer.items():
                    if version == "0.2":
                        shown = " ".join(sorted(shown.split(), key=int))
                    right[shown] += count
                name = f"{shape}, island {home}: inspirations of {number}"
                results.append((name, report(name, conditional, right)))
    return results


def shown_population(database, names):
    def name(number):
        return f"{names[database.programs[number].code]}@{database.programs[number].metadata['island']}"

    cells = [f"{name(owner)}:{coordinates}" for cells in database.island_feature_maps
             for coordinates, owner in cells.items() if owner in database.programs]
    return {"members": sorted(name(number) for number in database.programs),
            "archive": sorted(name(number) for number in database.archive
                              if number in database.programs),
            "cells": sorted(cells)}


def compare_populations(original, options):
    """Random programs, one by one, with migrations: are members, cells and archive the same after each?
    With the original as it is, and with the one thing that ksearch does differently."""
    runs = max(1, options.cases // 100)
    for repaired in (False, True):
        steps = differing_runs = 0
        for i in range(runs):
            rng = random.Random(f"{options.seed} population {i}")
            limits = {"population_size": rng.choice([12, 25, 1000]),
                      "archive_size": rng.choice([4, 12, 100]),
                      "num_islands": rng.choice([2, 3, 5])}
            database = original.new(repaired, **limits)
            programs = random_programs(rng, 20, list(range(limits["num_islands"])), 0.0)
            names = {program["code"]: program["number"] for program in programs}
            expected, told = [], []
            for program in programs:
                original.add(database, program["number"], program["code"], program["fitness"],
                             program["island"])
                told.append(program)
                expected.append(copy.deepcopy(shown_population(database, names)))
                if rng.random() < 0.1:
                    database.migrate_programs()
                    told.append({"migrate": True})
                    expected.append(copy.deepcopy(shown_population(database, names)))
            settings = {"preset": original.preset, "population": limits["population_size"],
                        "archive": limits["archive_size"], "islands": limits["num_islands"]}
            [answer] = ask(options.bench,
                           [{"case": "inserted", "settings": settings, "programs": told}])
            steps += len(expected)
            at = next((k for k, (a, b) in enumerate(zip(expected, answer)) if a != b), None)
            if at is None:
                continue
            differing_runs += 1
            if repaired and differing_runs <= options.show:
                for field in expected[at]:
                    if expected[at][field] != answer[at][field]:
                        print(f"run {i}, step {at}, {limits}: {field}: original "
                              f"{expected[at][field]}\n  here {answer[at][field]}")
        print(f"populations, {'with programs once in the archive' if repaired else 'as it is'}: "
              f"{runs} runs of 20 programs ({steps} steps), {differing_runs} differ")
    return differing_runs


def main():
    parser = arguments(__doc__)
    parser.add_argument("--preset", choices=sorted(PRESETS), default="oe-0.3")
    options = parser.parse_args()
    original = Original(options.checkout, options.preset)
    version = "0.2" if options.preset == "oe-ksearch" else "0.3"
    results = compare_draws(original, options, version)
    faults = holm(results)
    for name in faults:
        print(f"differs: {name}")
    if compare_populations(original, options) > 0:
        faults.append("populations")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
