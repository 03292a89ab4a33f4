"""Does preset paper edit, select and stop as K-Search's published code does? Random trees with random
edit scripts, and whole searches that are answered at random, by both.

    python3 bench/agreement/agree_with_ksearch.py CHECKOUT_OF_K_SEARCH

The checkout's Python needs the package openai (none of its calls is made)."""

import contextlib
import io
import json
import random
import sys

from agreement import arguments, ask

TASK = "vecadd"
BASELINE_US = 1000.0
TIMES_US = [4000.0, 2500.0, 2000.0, 1600.0, 1250.0, 1000.0, 800.0, 640.0, 500.0, 400.0, 320.0]
GRID = [0.0, 0.1, 0.3, 0.35, 0.5, 0.51, 0.6, 0.6, 0.9, 1.0]


# ---------------------------------------------------------------- random trees and replies


def number(rng, high, wild):
    value = rng.choice(GRID) * high
    if wild and rng.random() < 0.05:
        value = rng.choice([-3, 17 * high, "0.4", high * 0.25])
    return value


def action(rng, wild=True):
    made = {}
    if rng.random() < 0.93:
        made["title"] = f"title {rng.randrange(100)}"
    if rng.random() < 0.9:
        made["difficulty_1_to_5"] = rng.choice([1, 2, 2, 3, 4, 4, 5])
    if wild and rng.random() < 0.04:
        made["difficulty_1_to_5"] = rng.choice([0, 9, 3.7, -2])
    if rng.random() < 0.85:
        made["score_0_to_1"] = number(rng, 1, wild)
    elif rng.random() < 0.3:
        made["score_0_to_1"] = None
    return made


def new_node(rng, node_id=None):
    node = {"decision": f"d{rng.randrange(9)}", "choice": f"c{rng.randrange(9)}"}
    if node_id is not None:
        node["node_id"] = node_id
    if rng.random() < 0.8:
        node["overall_rating_0_to_10"] = number(rng, 10, True)
    if rng.random() < 0.7:
        node["confidence_0_to_1"] = number(rng, 1, True)
    if rng.random() < 0.95:
        node["action"] = action(rng)
    return node


def random_tree(rng):
    """A world model as K-Search keeps it, before its normalization."""
    ids = ["root"]
    nodes = [{"node_id": "root", "parent_id": None}]
    if rng.random() < 0.3:
        nodes[0]["solution_ref"] = solution(rng, "s_root")
    for i in range(rng.randrange(0, 25)):
        node = new_node(rng, f"n{rng.randrange(10)}x{i}")
        node["parent_id"] = rng.choice(ids if rng.random() < 0.7 else ids[:1])
        if rng.random() < 0.4:
            node["solution_ref"] = solution(rng, f"s_{node['node_id']}")
        ids.append(node["node_id"])
        nodes.append(node)
    return {"decision_tree": {"root_id": "root", "active_leaf_id": rng.choice(ids), "nodes": nodes}}


def solution(rng, solution_id):
    score = BASELINE_US / rng.choice(TIMES_US)
    return {"solution_id": solution_id, "parent_solution_id": None,
            "eval": {"status": "passed", "latency_ms": 1.0, "metrics": {"score": score},
                     "mean_vs_baseline_factor": score if rng.random() < 0.8 else None}}


def random_ops(rng, ids, solutions, most, fresh):
    """Operations on nodes with these ids, good and bad ones; `fresh` makes new ids."""
    def known():
        return rng.choice(ids) if rng.random() < 0.93 else "nowhere"

    def maybe_id():
        draw = rng.random()
        return fresh() if draw < 0.8 else (rng.choice(ids) if draw < 0.9 else None)

    ops = []
    for _ in range(rng.randrange(0, most)):
        kind = rng.random()
        if kind < 0.35:
            patch = {}
            if rng.random() < 0.5:
                patch["overall_rating_0_to_10"] = rng.choice(GRID) * 10
            if rng.random() < 0.3:
                patch["confidence_0_to_1"] = rng.choice(GRID)
            if rng.random() < 0.7:
                patch["action"] = {"score_0_to_1": rng.choice(GRID)}
                if rng.random() < 0.3:
                    patch["action"]["difficulty_1_to_5"] = rng.randrange(1, 6)
                if rng.random() < 0.1:
                    patch["action"]["title"] = rng.choice(["", "other title"])
            op = {"op": "update_node", "node_id": known(), "patch": patch}
            if rng.random() < 0.03:
                del op["patch"]
        elif kind < 0.7:
            parent = known()
            op = {"op": "insert_node", "parent_id": parent, "node": new_node(rng, maybe_id())}
            if rng.random() < 0.4:
                op["parent_solution_id"] = solutions.get(parent) or "s_other"
            if rng.random() < 0.05:
                op["parent_solution_id"] = "s_other"
            if rng.random() < 0.03:
                op["node"] = rng.choice(["text", 5, []])
            if rng.random() < 0.03:
                op["parent_id"] = rng.choice(["", None])
            if op["node"] and isinstance(op["node"], dict) and rng.random() < 0.1:
                op["node"]["parent_id"] = rng.choice(ids)
        elif kind < 0.82:
            children = [new_node(rng, maybe_id()) for _ in range(rng.randrange(0, 4))]
            if children and rng.random() < 0.1:
                children[rng.randrange(len(children))] = "no node"
            op = {"op": "split_node", "node_id": known(), "children": children}
            if rng.random() < 0.5:
                op["parent_patch"] = {"notes": "split", "action": {"score_0_to_1": 0.3}}
            if rng.random() < 0.05:
                del op["children"]
        elif kind < 0.95:
            op = {"op": "delete_node", "node_id": known()}
        else:
            op = rng.choice([{"op": "rename_node"}, {}, 7, "text"])
        ops.append(op)
    return ops


def edit_text(rng, ops, ids):
    if rng.random() < 0.04:
        return rng.choice(["I cannot say.", "{\"ops\": [", "{\"ops\": 5}", ""])
    script = {"ops": ops}
    if rng.random() < 0.2:
        script["active_leaf_id"] = rng.choice(ids) if rng.random() < 0.8 else "nowhere"
    text = json.dumps(script, indent=rng.choice([None, 1]))
    if rng.random() < 0.3:
        text = rng.choice(["Here it is:\n", "```json\n"]) + text + "\n```\nThat is all.\n"
    return text


def solutions_of(nodes):
    return {n["node_id"]: (n.get("solution_ref") or {}).get("solution_id") for n in nodes}


def shown(nodes):
    """The fields of K-Search's nodes that decide anything, in the form that the bench prints."""
    rows = []
    for node in nodes:
        if node["node_id"] == "root":
            continue
        act = node["action"]
        rows.append([node["node_id"], node["parent_id"], bool(act["title"]), act["difficulty_1_to_5"],
                     act["score_0_to_1"], node["overall_rating_0_to_10"],
                     node["confidence_0_to_1"],
                     bool((node.get("solution_ref") or {}).get("solution_id"))])
    return sorted(rows)


class Originals:
    """The checkout's modules."""

    def __init__(self, checkout):
        sys.path.insert(0, checkout)
        from k_search.kernel_generators import kernel_generator_world_model as generator
        from k_search.kernel_generators import world_model, world_model_manager
        from k_search.tasks.task_base import EvalResult
        from k_search.utils.solution_db import SolutionDB
        self.generator = generator
        self.world_model = world_model
        self.manager = world_model_manager
        self.EvalResult = EvalResult
        self.SolutionDB = SolutionDB

    def new_manager(self, llm_call, max_difficulty):
        policy = self.manager.WorldModelSelectionPolicy()
        policy.max_difficulty_1_to_5 = max_difficulty
        return self.manager.WorldModelManager(
            llm_call=llm_call, target_gpu="H100", language="triton",
            config=self.manager.WorldModelConfig(selection_policy=policy))


# ---------------------------------------------------------------- trees


def tree_case(originals, seed):
    """(case, result of the published code)."""
    rng = random.Random(seed)
    max_difficulty = rng.randrange(1, 6)
    manager = originals.new_manager(lambda prompt: "", max_difficulty)
    text = originals.world_model.dump_world_model_obj(random_tree(rng))
    tree = json.loads(text)
    nodes = tree["decision_tree"]["nodes"]
    ids = [n["node_id"] for n in nodes]
    made = iter(range(1000))
    ops = random_ops(rng, ids, solutions_of(nodes), 8, lambda: f"f{next(made)}")
    reply = edit_text(rng, ops, ids)
    round_index = rng.randrange(1, 50)
    case = {"case": "edited_tree", "tree": tree, "reply": reply, "task": TASK,
            "round": round_index, "max_difficulty": max_difficulty}
    edits = originals.world_model.try_parse_decision_tree_edit_ops(reply)
    expected = {"parsed": edits is not None}
    if edits is not None:
        unknown = sum(1 for op in edits.ops if not isinstance(op, dict) or op.get("op") not in
                      ("update_node", "insert_node", "split_node", "delete_node"))
        text = manager._apply_decision_tree_ops(definition_name=TASK, world_model_json=text,
                                                edits=edits, round_index=round_index)
        made_of_it = manager._last_apply_ops_report
        skipped = [made_of_it[f"skipped_{name}"] for name in (
            "cap", "missing_parent", "parent_solution_id_mismatch", "update_missing_node",
            "insert_invalid_node", "split_invalid_children", "delete_not_allowed")]
        # The bench counts operations of an unknown kind with invalid nodes; the published code lets
        # a later step refuse them.
        skipped[4] += unknown
        expected["skipped"] = skipped
        expected["done"] = [made_of_it[name] for name in (
            "updates", "inserts", "split_children", "deletes")]
        expected["clean"] = sum(skipped) == 0
    manager.set(TASK, text)
    tree = json.loads(text)["decision_tree"]
    best = manager._find_best_node_id(world_model_json=text)
    expected["nodes"] = shown(tree["nodes"])
    expected["active"] = tree["active_leaf_id"]
    expected["picked"] = manager.choose_next_action_node_id(definition_name=TASK)
    expected["frontier"] = manager._count_open_frontier_action_nodes(world_model_json=text)
    expected["best"] = best
    expected["best_lacks_child"] = best is not None and not manager._node_has_open_child_action(
        world_model_json=text, parent_id=best)
    ids = [n["node_id"] for n in tree["nodes"]]
    return case, expected, len(ids) != len(set(ids))


# ---------------------------------------------------------------- traces


class FakeSolution:
    def __init__(self, name, code):
        self.name, self.code, self.definition = name, code, TASK

    def hash(self):
        return self.code


class FakeTask:
    """A task whose programs are numbers, with random times."""

    name = TASK

    def __init__(self, originals, rng, seed_us):
        self.originals, self.rng, self.seed_us = originals, rng, seed_us
        self.times = {}
        self.pass_rate = rng.choice([0.15, 0.5, 0.8])

    def get_definition_text(self, language=None):
        return "a task"

    def get_baseline_targets_text(self):
        return ""

    def code_for_world_model_from_raw(self, raw, language):
        return str(raw or "")

    def _result(self, us):
        if us == "failed":
            return self.originals.EvalResult(status="failed")
        score = BASELINE_US / us
        return self.originals.EvalResult(
            status="passed", latency_ms=us / 1000, mean_vs_baseline_factor=score,
            metrics={"score": score, "score_name": "mean_vs_baseline"})

    def run_benchmark(self, solution, dump_traces, round_num):
        us = self.rng.choice(TIMES_US) if self.rng.random() < self.pass_rate else "failed"
        self.times[solution.code] = us
        return self._result(us)

    def get_solution(self, name):
        return FakeSolution("seed", "seed")

    def seed_eval_for_base_solution(self, base_solution):
        return self._result(self.seed_us)


class Recorder:
    """One search of the published generator, answered at random; the trace is what it asked."""

    def __init__(self, originals, seed):
        self.originals = originals
        self.rng = random.Random(seed)
        self.trace, self.replies, self.calls = [], [], []
        self.reason = "budget"
        self.duplicates = False
        self.programs = 0
        self.fresh_ids = 0
        self.shown = None

    def fresh(self):
        self.fresh_ids += 1
        return f"{self.rng.choice('abc')}{self.fresh_ids}"

    def run(self):
        rng, originals = self.rng, self.originals
        rounds, window = rng.randrange(1, 16), rng.randrange(1, 6)
        max_difficulty = rng.randrange(1, 6)
        seed_us = rng.choice(TIMES_US) if rng.random() < 0.3 else None
        self.continues = seed_us is not None
        module = originals.generator
        generator = module.WorldModelKernelGeneratorWithBaseline.__new__(
            module.WorldModelKernelGeneratorWithBaseline)
        generator.model_name, generator.language, generator.target_gpu = "none", "triton", "H100"
        generator._world_model_max_chars, generator._artifacts_dir = 50000, None
        generator._solution_db = originals.SolutionDB(jsonl_path=None)
        generator._persist_world_model_snapshot = lambda task: None
        generator._generate_code_from_prompt = self.code
        generator._create_solution_from_code = (
            lambda cleaned_code, raw_code, task, round_num: FakeSolution(f"r{round_num}", raw_code))
        self.wm = generator._wm = originals.new_manager(self.call, max_difficulty)
        for name in ("ensure_initialized", "propose_action_nodes", "refine",
                     "note_action_too_hard"):
            setattr(self.wm, name, self.noted(name, getattr(self.wm, name)))
        self.wm.choose_next_action_node_id = self.chosen(self.wm.choose_next_action_node_id)
        task = FakeTask(originals, rng, seed_us)
        # The text of prompts decides nothing, and takes most of the time.
        with self.patched(module):
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    generator.generate(task, max_opt_rounds=rounds, wm_stagnation_window=window,
                                       continue_from_solution="seed" if seed_us else None)
                except ValueError:
                    pass  # no program was made
        case = {"case": "trace", "task": TASK, "rounds": rounds, "window": window,
                "max_difficulty": max_difficulty, "replies": self.replies, "times": task.times}
        if seed_us is not None:
            case["seed"] = seed_us
        nodes = self.nodes()
        self.check(nodes)
        reason = ("no executable open action nodes" if self.reason == "nothing"
                  else f"budget of {rounds} rounds is spent")
        return case, {"trace": self.trace, "nodes": shown(nodes), "unused": 0, "reason": reason}

    # ---- what is asked

    def noted(self, name, method):
        def call(**arguments):
            self.calls.append((name, arguments))
            try:
                return method(**arguments)
            finally:
                self.calls.pop()
                self.check(self.nodes())
        return call

    def chosen(self, method):
        def call(**arguments):
            node = method(**arguments)
            self.node = node
            self.attempt = 0
            if node is None:
                self.reason = "nothing"
            return node
        return call

    def nodes(self):
        text = self.wm.get(TASK)
        return json.loads(text)["decision_tree"]["nodes"] if text else []

    def check(self, nodes):
        ids = [node["node_id"] for node in nodes]
        self.duplicates = self.duplicates or len(ids) != len(set(ids))

    def call(self, prompt):
        name, arguments = self.calls[-1]
        if name == "ensure_initialized":
            self.trace.append("init  code=none")
            reply = self.first_tree()
        else:
            kind = {"propose_action_nodes": "propose", "refine": "refine",
                    "note_action_too_hard": "too_hard"}[name]
            node = "" if kind == "propose" else self.node
            self.trace.append(f"{kind} {node} code={arguments['current_code_excerpt'] or 'none'}")
            reply = self.edits(kind)
        self.replies.append(reply)
        return reply

    def first_tree(self):
        rng = self.rng
        # The published code forgets the program that it continues from if this reply is unreadable.
        if rng.random() < 0.08 and not self.continues:
            return "I cannot say."
        nodes, ids = [], []
        if rng.random() < 0.7:
            nodes.append({"node_id": "root", "parent_id": None, "notes": "a note"})
        for _ in range(rng.choice([0, 1, 2, 3, 4, 6, 9])):
            node = new_node(rng, self.fresh())
            node["parent_id"] = rng.choice([None, "root", "root", "gone"] + ids)
            ids.append(node["node_id"])
            nodes.append(node)
        return json.dumps({"kernel_summary": "a kernel", "open_questions": [],
                           "decision_tree": {"root_id": "root", "nodes": nodes}})

    def edits(self, kind):
        rng = self.rng
        nodes = self.nodes()
        ids = [node["node_id"] for node in nodes]
        solved = solutions_of(nodes)
        ops = random_ops(rng, ids, solved, 5, self.fresh)
        if kind != "too_hard" and rng.random() < 0.6:
            parent = self.node if kind == "refine" else rng.choice(["root"] + ids)
            good = new_node(rng, self.fresh())
            good["action"] = {"title": "good", "difficulty_1_to_5": 2,
                              "score_0_to_1": rng.choice([0.3, 0.6, 0.9])}
            ops.insert(0, {"op": "insert_node", "parent_id": parent, "node": good})
            if rng.random() < 0.6:
                ops = ops[:1]
        return edit_text(rng, ops, ids)

    def code(self, prompt):
        self.programs += 1
        program = str(self.programs)
        self.attempt += 1
        kind, base, current = self.shown
        self.trace.append(f"code {self.node} {self.attempt} {kind} base={base or 'none'} "
                          f"current={current or 'none'}")
        self.replies.append(program)
        return {"cleaned": program, "raw": program}

    # ---- prompts

    @contextlib.contextmanager
    def patched(self, module):
        def prompt(kind, current):
            def make(language, **arguments):
                base = arguments.get("base_code")
                if base == "(no base code; start from spec)":
                    base = None
                self.shown = (kind, base, arguments.get(current) if current else None)
                return ""
            return make

        class NoPrompts:
            init_prompt = ""

        nothing = lambda *args, **kwargs: ""  # noqa: E731
        changes = [
            (module, "get_generate_code_from_spec_with_action_prompt_from_text",
             prompt("spec", None)),
            (module, "get_generate_code_from_action_prompt_from_text", prompt("base", None)),
            (module, "get_debug_and_improve_from_spec_prompt_from_text",
             prompt("debug", "current_code")),
            (module, "get_debug_generated_code_prompt_from_text", prompt("debug", "buggy_code")),
            (module, "get_improve_from_spec_prompt_from_text", prompt("improve", "current_code")),
            (module, "get_improve_generated_code_prompt_from_text",
             prompt("improve", "current_code")),
            (module, "render_world_model_status", nothing),
            (module, "render_open_action_nodes_block", nothing),
            (module, "render_world_model_section", nothing),
            (module, "render_chosen_action_node_block", lambda node: "an action"),
            (module, "code_from_solution", lambda language, base: ("seed", "seed")),
            (self.originals.manager, "build_decision_tree_edit_prompt", nothing),
            (self.originals.manager, "build_world_model_prompts",
             lambda *args, **kwargs: NoPrompts()),
        ]
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
        for owner, name, value in changes:
            setattr(owner, name, value)
        try:
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)


def trace_case(originals, seed):
    recorder = Recorder(originals, seed)
    case, expected = recorder.run()
    return case, expected, recorder.duplicates


# ---------------------------------------------------------------- comparison


def compare(name, make, options, originals):
    """Number of cases that differ. Cases whose tree has two nodes with one id are not compared."""
    faults = left_out = steps = 0
    batch = 500
    for begin in range(0, options.cases, batch):
        made = []
        for i in range(begin, min(begin + batch, options.cases)):
            case, expected, duplicates = make(originals, options.seed * 1000003 + i)
            left_out += duplicates
            if not duplicates:
                made.append((i, case, expected))
        answers = ask(options.bench, [case for _, case, _ in made])
        for (i, case, expected), answer in zip(made, answers):
            steps += len(expected.get("trace", [1]))
            if expected == {key: answer.get(key) for key in expected}:
                continue
            faults += 1
            if faults > options.show:
                continue
            print(f"{name} {i} differs:")
            for key, value in expected.items():
                if answer.get(key) == value:
                    continue
                if key == "trace":
                    at = next((k for k, (a, b) in enumerate(zip(value, answer[key])) if a != b),
                              min(len(value), len(answer[key])))
                    print(f"  trace from {at}: published {value[max(0, at - 2):at + 2]}, "
                          f"here {answer[key][max(0, at - 2):at + 2]}; reply before: "
                          f"{case['replies'][at - 1] if at > 0 else None}")
                else:
                    print(f"  {key}: published {value}\n  here {answer.get(key)}")
            if "reply" in case:
                print(f"  reply: {case['reply']}")
    print(f"{name}: {options.cases - left_out} compared ({steps} decisions or calls), {faults} "
          f"differ; {left_out} left out, where the published code made two nodes of one id")
    return faults


def main():
    options = arguments(__doc__).parse_args()
    originals = Originals(options.checkout)
    faults = compare("trees", quiet(tree_case), options, originals)
    faults += compare("traces", trace_case, options, originals)
    sys.exit(1 if faults > 0 else 0)


def quiet(make):
    def call(*args):
        with contextlib.redirect_stdout(io.StringIO()):
            return make(*args)
    return call


if __name__ == "__main__":
    main()
