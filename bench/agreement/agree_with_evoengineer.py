"""Does strategy evoengineer draw parents and ideas, and trim populations, as EvoEngineer does? Random
populations, drawn from often by both.

    python3 bench/agreement/agree_with_evoengineer.py CHECKOUT_OF_EVOTOOLKIT

The checkout's Python needs numpy."""

import importlib
import random
import sys
import types
from collections import Counter

from agreement import arguments, ask, holm, report


class Original:
    def __init__(self, checkout):
        # Its packages import one another in a circle; without their __init__ each module loads.
        for name in ("evotoolkit", "evotoolkit.core", "evotoolkit.tools", "evotoolkit.evo_method",
                     "evotoolkit.evo_method.evoengineer"):
            package = sys.modules[name] = types.ModuleType(name)
            package.__path__ = [f"{checkout}/src/{name.replace('.', '/')}"]
        core = sys.modules["evotoolkit.core"]
        for name in ("base_config", "solution", "operator", "base_run_state_dict", "base_task",
                     "method_interface", "base_method"):
            for key, value in vars(importlib.import_module(f"evotoolkit.core.{name}")).items():
                if isinstance(value, type):
                    setattr(core, key, value)
        self.numpy = importlib.import_module("numpy")
        self.method = importlib.import_module("evotoolkit.evo_method.evoengineer.evoengineer")

    def new(self, population):
        """The method in its state between two generations, without its surroundings."""
        method = self.method.EvoEngineer.__new__(self.method.EvoEngineer)
        method.run_state_dict = types.SimpleNamespace(population=population)
        method.config = types.SimpleNamespace(pop_size=5)
        method.verbose_info = lambda text: None
        return method


def solution(number, score):
    return types.SimpleNamespace(
        number=number, other_info={"thought": f"idea{number}"},
        evaluation_res=types.SimpleNamespace(valid=score is not None, score=score))


def state_of(population):
    members = [{"number": each.number, "candidateId": str(each.number),
                "idea": each.other_info["thought"]} for each in population]
    screened = {str(each.number): {"candidateId": str(each.number),
                                   "passed": each.evaluation_res.valid,
                                   "score": each.evaluation_res.score or 0}
                for each in population}
    return {"log": {"screened": screened},
            "evoengineer": {"members": members, "lastNumber": len(members), "generation": 1}}


def main():
    options = arguments(__doc__).parse_args()
    original = Original(options.checkout)
    original.numpy.random.seed(options.seed)
    random.seed(options.seed)
    results = []
    for name, valid, invalid in (("5 that work", 5, 0), ("3 that work", 3, 2), ("2", 2, 3),
                                 ("1", 1, 4)):
        rng = random.Random(f"{options.seed} {name}")
        scores = rng.sample(range(1, 100), valid) + [None] * invalid
        rng.shuffle(scores)
        population = [solution(i + 1, score) for i, score in enumerate(scores)]
        method = original.new(population)
        case = {"case": "draws", "strategy": "evoengineer", "state": state_of(population),
                "draws": options.draws, "seed": options.seed}
        one = types.SimpleNamespace(selection_size=1)
        left = Counter(str(method._select_individuals_for_operator(one)[0].number)
                       for _ in range(options.draws))
        [answer] = ask(options.bench, [{**case, "what": "rank", "settings": {"preset": "full"}}])
        results.append((name, report(f"{name}: parent of a mutation", left, answer)))
        # The plan of a whole attempt: which program is changed, and which ideas are shown with it.
        for preset, operation, size in (("insight", "init", 0), ("full", "crossover", 2)):
            operator = types.SimpleNamespace(selection_size=size)
            left = Counter()
            for _ in range(options.draws):
                drawn = method._select_individuals_for_operator(operator)
                first = drawn[0] if drawn else method._get_best_sol(population)
                ideas = sorted(method._get_n_random_thought(3))
                left[" ".join([operation, str(first.number), "|"] + ideas)] += 1
            state = state_of(population)
            [answer] = ask(options.bench, [{**case, "what": "plan", "state": state,
                                            "settings": {"preset": preset}}])
            title = f"{name}: {operation} of {preset}, with ideas"
            results.append((title, report(title, left, answer)))
    faults = holm(results)
    for name in faults:
        print(f"differs: {name}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
