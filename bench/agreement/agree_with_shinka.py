"""Does strategy shinka choose islands, parents, inspirations, ways of changing, migrants and models as
ShinkaEvolve does? Random populations, drawn from often by both.

    python3 bench/agreement/agree_with_shinka.py CHECKOUT_OF_SHINKAEVOLVE

The checkout's Python needs what the package shinka needs."""

import contextlib
import io
import logging
import math
import random
import sys
from collections import Counter

from agreement import arguments, ask, holm, report

SHAPES = {
    # islands, programs, share that fail, archive, inspirations from the archive and from the top
    "plain": (2, 24, 0.3, 40, 1, 1),
    "a small archive": (2, 24, 0.0, 4, 1, 1),
    "many inspirations": (3, 40, 0.2, 40, 4, 2),
    "equal scores": (2, 12, 0.0, 40, 1, 1),
}


class Original:
    def __init__(self, checkout):
        sys.path.insert(0, checkout)
        logging.disable(logging.CRITICAL)
        import numpy
        from shinka.core import sampler
        from shinka.database import dbase, inspirations, parents
        from shinka.llm.prioritization import AsymmetricUCB
        self.numpy, self.sampler, self.dbase = numpy, sampler, dbase
        self.parents, self.inspirations = parents, inspirations
        self.AsymmetricUCB = AsymmetricUCB

    def population(self, rng, shape):
        islands, count, failing, archive, from_archive, from_top = SHAPES[shape]
        config = self.dbase.DatabaseConfig(
            db_path=None, num_islands=islands, archive_size=archive,
            num_archive_inspirations=from_archive, num_top_k_inspirations=from_top,
            migration_rate=0.1)
        database = self.dbase.ProgramDatabase(config)
        scores = [1.0] * count if shape == "equal scores" else [
            score / 10 for score in rng.sample(range(1, 10 * count), count)]
        alive = []
        for i in range(count):
            number = i + 1
            # The first program of every island works.
            correct = i < islands or rng.random() >= failing
            parent = str(rng.choice(alive)) if i >= islands else None
            database.add(self.dbase.Program(
                id=str(number), code=f"code {number}", parent_id=parent, complexity=1.0,
                generation=0 if i < islands else number, correct=correct,
                combined_score=scores[i] if correct else 0.0))
            if i < islands:
                database.cursor.execute("UPDATE programs SET island_idx = ? WHERE id = ?",
                                        (i, str(number)))
                database.conn.commit()
            if correct:
                alive.append(number)
        # Copies of the first program, which the database makes itself, have no number.
        database.cursor.execute(
            "DELETE FROM programs WHERE CAST(CAST(id AS INTEGER) AS TEXT) != id")
        database.cursor.execute(
            "DELETE FROM archive WHERE program_id NOT IN (SELECT id FROM programs)")
        database.conn.commit()
        database.best_program_id = str(max(alive, key=lambda n: (scores[n - 1], -n)))
        return database

    def state(self, database):
        database.cursor.execute("SELECT * FROM programs ORDER BY CAST(id AS INTEGER)")
        rows = database.cursor.fetchall()
        database.cursor.execute("SELECT program_id FROM archive")
        archive = [int(row["program_id"]) for row in database.cursor.fetchall()]
        members = [{"number": int(row["id"]), "candidateId": row["id"],
                    "island": row["island_idx"], "children": row["children_count"],
                    "parent": int(row["parent_id"] or 0), "round": row["generation"]}
                   for row in rows]
        screened = {row["id"]: {"candidateId": row["id"], "passed": bool(row["correct"]),
                                "score": row["combined_score"]} for row in rows}
        return {"log": {"screened": screened},
                "shinka": {"members": members, "lastNumber": len(rows), "archive": archive}}

    def context(self, database, parent):
        selector = self.inspirations.CombinedContextSelector(
            cursor=database.cursor, conn=database.conn, config=database.config,
            get_program_func=database.get, best_program_id=database.best_program_id,
            get_island_idx_func=database.island_manager.get_island_idx,
            program_from_row_func=database._program_from_row)
        return selector.sample_context(parent, database.config.num_archive_inspirations,
                                       database.config.num_top_k_inspirations)


def compare_choices(original, options):
    results = []
    for shape in SHAPES:
        rng = random.Random(f"{options.seed} {shape}")
        random.seed(f"{options.seed} {shape}")
        original.numpy.random.seed(options.seed)
        with contextlib.redirect_stdout(io.StringIO()):
            database = original.population(rng, shape)
        config = database.config
        settings = {"preset": "shinka-stock", "islands": config.num_islands,
                    "archive": config.archive_size,
                    "archiveInspirations": config.num_archive_inspirations,
                    "topInspirations": config.num_top_k_inspirations,
                    "migrationRate": config.migration_rate}
        state = original.state(database)
        case = {"case": "draws", "strategy": "shinka", "settings": settings, "state": state,
                "draws": options.draws, "seed": options.seed}

        def judge(what, left, draws=None, **more):
            [answer] = ask(options.bench, [{**case, "what": what.split()[0], **more,
                                            "draws": draws or options.draws}])
            # Wordings of a request for a whole program are identified only by their order.
            whole = sorted(name for name in answer if name.startswith("whole "))
            answer = {f"whole {whole.index(name)}" if name in whole else name: count
                      for name, count in answer.items()}
            name = f"{shape}: {what}"
            results.append((name, report(name, left, answer)))

        islands = database.island_manager.get_initialized_islands()
        judge("island", Counter(str(database.island_sampler.sample_island(islands))
                                for _ in range(options.draws)))
        for island in sorted(islands)[:2]:
            strategy = original.parents.WeightedSamplingStrategy(
                cursor=database.cursor, conn=database.conn, config=config,
                get_program_func=database.get, best_program_id=database.best_program_id,
                island_idx=island)
            judge(f"parent on island {island}",
                  Counter(strategy.sample_parent().id for _ in range(options.draws)),
                  island=island)
        works = [m for m in state["shinka"]["members"]
                 if state["log"]["screened"][m["candidateId"]]["passed"]]
        for member in rng.sample(works, 2):
            parent = database.get(member["candidateId"])
            builder = original.inspirations.InspirationContextBuilder()
            left = Counter()
            for _ in range(options.draws):
                shown = builder.build_context(*original.context(database, parent))
                left[" ".join(program.id for program in shown)] += 1
            judge(f"inspirations of {member['number']}", left, parent=member["number"])
        judge("migration", migrations(original, database, options.draws // 20),
              draws=options.draws // 20)
        judge("operation", operations(original, database, options.draws))
    return results


def migrations(original, database, draws):
    database.island_manager.migration_strategy._print_migration_summary = lambda summary: None
    database.cursor.execute("SELECT id, island_idx FROM programs ORDER BY CAST(id AS INTEGER)")
    before = {row["id"]: row["island_idx"] for row in database.cursor.fetchall()}
    left = Counter()
    for _ in range(draws):
        database.island_manager.perform_migration(1)
        database.cursor.execute("SELECT id, island_idx FROM programs ORDER BY CAST(id AS INTEGER)")
        moves = []
        for row in database.cursor.fetchall():
            if row["island_idx"] != before[row["id"]]:
                moves.append(f"{row['id']}>{row['island_idx']}")
        for move in moves:
            number = move.split(">")[0]
            database.cursor.execute("UPDATE programs SET island_idx = ? WHERE id = ?",
                                    (before[number], number))
        left[" ".join(moves)] += 1
    database.conn.commit()
    return left


def operations(original, database, draws):
    """The ways of changing, by the sampler of prompts, with a parent and one inspiration."""
    module = original.sampler
    formats = module.FULL_SYS_FORMATS
    marks = [f"<{i}>" for i in range(len(formats))]
    module.FULL_SYS_FORMATS = marks
    sampler = module.PromptSampler(task_sys_msg="task")
    parent, other = (database.get(number) for number in ("1", "2"))
    left = Counter()
    for _ in range(draws):
        system, _, kind = sampler.sample(parent, [other], [])
        name = {"diff": "patch", "full": "whole", "cross": "cross"}[str(kind)]
        if name == "whole":
            name += f" {next(i for i, mark in enumerate(marks) if system.endswith(mark))}"
        left[name] += 1
    module.FULL_SYS_FORMATS = formats
    return left


# ---------------------------------------------------------------- models


def compare_models(original, options):
    """The bandit's books after random gains, and the shares that follow. Calls of a model cost more
    or less than its usual price."""
    results, faults = [], 0
    for i in range(12):
        rng = random.Random(f"{options.seed} models {i}")
        count = rng.choice([2, 3, 4])
        cost_weight = rng.choice([0.0, 0.5, 0.5, 1.0])
        costs = [rng.choice([0.01, 0.02, 0.05, 0.2]) for _ in range(count)]
        bandit = original.AsymmetricUCB(n_arms=count, seed=options.seed,
                                        cost_aware_coef=cost_weight)
        bandit.set_baseline_score(0.0)
        tries = [0] * count
        gains = []
        paid = [[] for _ in range(count)]
        for step in range(rng.choice([0, count, 3 * count, 40])):
            arm = step % count if step < count else rng.randrange(count)
            bandit.update_submitted(arm)
            tries[arm] += 1
            cost = costs[arm] * rng.choice([0.5, 1.0, 1.0, 3.0])
            paid[arm].append(round(1e9 * cost))
            bandit.update_cost(arm, cost)
            gain = rng.choice([0.0, 0.0, 0.05, 0.3, 1.0, 2.5])
            failed = gain == 0 and rng.random() < 0.5
            bandit.update(arm, None if failed else gain, 0.0)
            gains.append({"arm": arm, "gain": gain})
        in_flight = rng.choice([0, 0, 1])
        for arm in range(count):
            if tries[arm] > 0 and in_flight and rng.random() < 0.5:
                bandit.update_submitted(arm)
                tries[arm] += 1
        completed = Counter(gain["arm"] for gain in gains)
        arms = [{"role": "code", "use": arm, "submitted": tries[arm],
                 "replies": completed[arm], "nanoUsd": sum(paid[arm]),
                 **({"leastNanoUsd": min(paid[arm]), "mostNanoUsd": max(paid[arm])}
                    if paid[arm] else {})} for arm in range(count)]
        config = {"modelChoice": "MODEL_CHOICE_UCB", "ucb": {"costWeight": cost_weight}}
        [answer] = ask(options.bench, [{"case": "models", "config": config, "arms": arms,
                                        "gains": gains, "draws": options.draws,
                                        "seed": options.seed}])
        for arm in range(count):
            worth, known, best = answer["books"][arm]
            pairs = [(worth, math.exp(bandit.s[arm])), (known, bandit.divs[arm]),
                     (best, math.exp(bandit._obs_max))]
            if any(abs(a - b) > 1e-9 * max(1, abs(b)) for a, b in pairs):
                faults += 1
                print(f"models {i}, arm {arm}: books here and there: {pairs}")
        shares = bandit.posterior()
        drawn = original.numpy.random.choice(count, size=options.draws, p=shares)
        left = {str(arm): n for arm, n in Counter(drawn.tolist()).items()}
        right = {str(arm): n for arm, n in enumerate(answer["counts"]) if n > 0}
        name = f"models {i}: {count} of them, cost weight {cost_weight}"
        results.append((name, report(name, left, right)))
    return results, faults


def main():
    options = arguments(__doc__).parse_args()
    original = Original(options.checkout)
    results, faults = compare_models(original, options)
    results += compare_choices(original, options)
    for name in holm(results):
        faults += 1
        print(f"differs: {name}")
    sys.exit(1 if faults > 0 else 0)


if __name__ == "__main__":
    main()
