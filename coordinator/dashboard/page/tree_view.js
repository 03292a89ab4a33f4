// The world model as a tree: scores, states, and which candidate solved what.
import { el } from "./dom.js";
import { brief, link, num, times } from "./format.js";
import { nodeSteering } from "./steering.js";

function state(node, inWork) {
  if (node.solution) return ["solved", "good"];
  if (inWork.has(node.node_id)) return ["in work", "warn"];
  if (node.closed_too_hard) return ["too hard", "bad"];
  return [node.action?.title ? "open" : "", "quiet"];
}

// open: ids of nodes whose details are unfolded, kept by the caller from one drawing to the next.
// controls: likewise, the element with which an unfolded node is steered, so that what is being typed stays.
export function treeView(model, run, open, controls, refresh) {
  const nodes = model.nodes || [];
  const children = new Map();
  for (const node of nodes) {
    if (!children.has(node.parent_id || "")) children.set(node.parent_id || "", []);
    children.get(node.parent_id || "").push(node);
  }
  for (const id of [...controls.keys()]) if (!open.has(id) || !nodes.some((node) => node.node_id === id)) controls.delete(id);
  const steering = (node, place) => {
    if (!controls.has(node.node_id)) {
      const made = nodeSteering(run, node, refresh);
      if (!made) return;
      controls.set(node.node_id, made);
    }
    place.append(controls.get(node.node_id));
  };
  const inWork = new Set((run.cycles || []).map((cycle) => cycle.node_id));
  const item = (node) => {
    const [text, kind] = state(node, inWork);
    const solution = node.solution;
    const facts = [["Decision", node.decision], ["Choice", node.choice], ["Description", node.action?.description],
      ["Rationale", node.action?.rationale], ["Notes", node.notes], ["Lessons", (node.lessons || []).join("\n")], ["Gains", (node.gains || []).join("\n")]];
    const place = el("div");
    if (open.has(node.node_id)) steering(node, place);
    return el("li", null,
      el("details", {
        open: open.has(node.node_id),
        ontoggle: (event) => {
          if (!event.target.open) return open.delete(node.node_id);
          open.add(node.node_id);
          if (!place.firstChild) steering(node, place);
        },
      }, el("summary", null,
        node.action?.title ? el("span", { class: "tag" }, num(node.action.score).toFixed(2)) : null, " ", node.action?.title || node.choice || node.decision || node.node_id, " ",
        el("span", { class: kind }, text), " ",
        solution ? el("a", { href: link("run", run.run_id, "candidate", solution.candidate_id), title: "the candidate that solved it" },
          times(solution.confirmed_vs_baseline) ? times(solution.confirmed_vs_baseline) + " confirmed" : times(solution.vs_baseline) || brief(solution.candidate_id)) : null,
        node.too_hard_count ? el("span", { class: "quiet" }, ` ${node.too_hard_count} cycles without a pass`) : null),
      facts.filter(([, value]) => value).map(([name, value]) => el("p", null, el("span", { class: "quiet" }, name + ": "), value)),
      place),
      children.has(node.node_id) ? el("ul", null, children.get(node.node_id).map(item)) : null);
  };
  const pruned = model.tombstones || [];
  return el("div", null,
    model.kernel_summary ? el("p", { class: "quiet" }, model.kernel_summary) : null,
    el("ul", { class: "tree" }, (children.get("") || []).map(item)),
    pruned.length ? el("details", null, el("summary", null, `${pruned.length} pruned`),
      el("ul", null, pruned.map((each) => el("li", null, each.title || each.choice || each.node_id, el("span", { class: "quiet" }, " " + (each.reason || "")))))) : null);
}
