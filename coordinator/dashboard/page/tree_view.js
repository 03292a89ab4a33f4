// The world model as a tree: scores, states, lineage, and which candidate solved what.
import { d3 } from "./d3.js";
import { el, show } from "./dom.js";
import { brief, link, num, times } from "./format.js";
import { nodeSteering } from "./steering.js";

const ROW = 24, COLUMN = 300, MOST_LETTERS = 40, LETTER_PIXELS = 6, MOST_HEIGHT = 560;
const KINDS = { solved: "good", "in work": "warn", "too hard": "bad", open: "quiet", "": "quiet" };

function stateOf(node, inWork) {
  if (node.solution) return "solved";
  if (inWork.has(node.node_id)) return "in work";
  if (node.closed_too_hard) return "too hard";
  return node.action?.title ? "open" : "";
}

const nameOf = (node) => node.action?.title || node.choice || node.decision || node.node_id;
const gainOf = (node) => num(node.solution?.confirmed_vs_baseline) || num(node.solution?.vs_baseline);

// The node's value: the speed-up of its program, or else the score of its open action.
function worth(node) {
  if (node.solution) return (times(gainOf(node)) || "passed") + (num(node.solution.confirmed_vs_baseline) ? " ✓" : "");
  return node.action?.title ? num(node.action.score).toFixed(2) : "";
}

function labelOf(node) {
  const text = [worth(node), nameOf(node)].filter(Boolean).join("  ");
  return text.length > MOST_LETTERS ? text.slice(0, MOST_LETTERS - 1) + "…" : text;
}

export class TreeView {
  // refresh: called after the user has steered the run.
  constructor(refresh) {
    this.refresh = refresh;
    this.facts = el("div");
    this.controls = el("div");
    this.notes = el("div");
    this.svg = d3.create("svg").attr("class", "tree").attr("role", "group").attr("aria-label", "World model");
    const inner = this.svg.append("g");
    this.links = inner.append("g");
    this.nodes = inner.append("g");
    // The wheel scrolls the page unless a modifier key is held, which zooms the tree.
    this.zoom = d3.zoom().scaleExtent([0.15, 2.5])
      .extent(() => [[0, 0], this.size()])
      .filter(() => (d3.event.type === "wheel" ? d3.event.ctrlKey || d3.event.metaKey : !d3.event.button))
      .on("zoom", () => inner.attr("transform", d3.event.transform));
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.place = el("div", null, this.notes,
      el("div", { class: "row" },
        el("button", { onclick: () => this.svg.call(this.zoom.scaleBy, 1.4), title: "closer; also Ctrl and the wheel" }, "+"),
        el("button", { onclick: () => this.svg.call(this.zoom.scaleBy, 1 / 1.4), title: "farther; also Ctrl and the wheel" }, "−"),
        el("button", { onclick: () => this.fit() }, "Whole tree"),
        Object.entries(KINDS).map(([state, kind]) => (state ? el("span", { class: kind }, "● " + state) : null))),
      this.svg.node(), this.facts, this.controls);
  }

  // model: GetTree's answer. run: GetRun's.
  draw(model, run) {
    this.model = model;
    this.run = run;
    const children = d3.group(model.nodes || [], (node) => node.parent_id || "");
    const root = children.get("")?.[0];
    const first = !this.root;
    this.root = root ? d3.tree().nodeSize([ROW, COLUMN])(d3.hierarchy(root, (node) => children.get(node.node_id))) : null;
    const pruned = model.tombstones || [];
    show(this.notes, model.kernel_summary ? el("p", { class: "quiet" }, model.kernel_summary) : null,
      root ? null : el("p", { class: "quiet" }, "There is no tree."),
      pruned.length ? el("details", { open: this.notes.querySelector("details")?.open }, el("summary", null, `${pruned.length} pruned`),
        el("ul", null, pruned.map((each) => el("li", null, each.title || each.choice || each.node_id, el("span", { class: "quiet" }, " " + (each.reason || "")))))) : null);
    this.drawTree();
    if (first && this.root) requestAnimationFrame(() => this.fit());  // once it has a size
    this.drawFacts();
  }

  drawTree() {
    this.svg.style("display", this.root ? null : "none");
    if (!this.root) return;
    const all = this.root.descendants(), inWork = new Set((this.run.cycles || []).map((cycle) => cycle.node_id));
    // The line of descent of the chosen node, or else of the best program.
    const chosen = all.find((each) => each.data.node_id === this.chosen);
    const best = all.filter((each) => gainOf(each.data)).sort((a, b) => gainOf(b.data) - gainOf(a.data))[0];
    const line = new Set((chosen || best)?.ancestors());
    // From the end of one label to the beginning of the other.
    const path = d3.linkHorizontal().source(({ source }) => [source.y + 16 + LETTER_PIXELS * labelOf(source.data).length, source.x])
      .target(({ target }) => [target.y - 7, target.x]);
    this.links.selectAll("path").data(this.root.links(), (each) => each.target.data.node_id).join("path")
      .attr("class", (each) => (line.has(each.target) ? "link line" : "link")).attr("d", path);
    const nodes = this.nodes.selectAll("g.node").data(all, (each) => each.data.node_id).join((enter) => {
      const made = enter.append("g").attr("role", "button").attr("tabindex", 0)
        .on("click", (each) => this.choose(each.data.node_id))
        .on("keydown", (each) => {
          if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
          d3.event.preventDefault();
          this.choose(each.data.node_id);
        });
      made.append("title");
      made.append("rect").attr("x", -8).attr("y", -ROW / 2 + 1).attr("width", COLUMN - 30).attr("height", ROW - 2).attr("rx", 5);
      made.append("circle").attr("r", 5);
      made.append("text").attr("x", 10).attr("dy", "0.32em");
      return made;
    });
    nodes.attr("class", (each) => `node ${KINDS[stateOf(each.data, inWork)]}${each.data.node_id === this.chosen ? " chosen" : ""}`)
      .attr("transform", (each) => `translate(${each.y},${each.x})`)
      .attr("aria-label", (each) => `${nameOf(each.data)}, ${stateOf(each.data, inWork)} ${worth(each.data)}`);
    nodes.select("title").text((each) => nameOf(each.data));
    nodes.select("text").text((each) => labelOf(each.data));
  }

  size() {
    const { clientWidth, clientHeight } = this.svg.node();
    return [clientWidth || 1200, clientHeight || MOST_HEIGHT];
  }

  // Shows the whole tree in full size, or smaller if it does not fit.
  fit() {
    if (!this.root) return;
    const all = this.root.descendants();
    const [top, bottom] = d3.extent(all, (each) => each.x), right = d3.max(all, (each) => each.y) + COLUMN;
    const [width] = this.size(), height = Math.min(MOST_HEIGHT, bottom - top + 2 * ROW);
    const scale = Math.max(0.15, Math.min(1, width / (right + 30), height / (bottom - top + 2 * ROW)));
    this.svg.attr("height", height);
    this.svg.call(this.zoom.transform, d3.zoomIdentity.translate(15, height / 2 - (scale * (top + bottom)) / 2).scale(scale));
  }

  choose(id) {
    this.chosen = id === this.chosen ? "" : id;
    this.drawTree();
    this.drawFacts();
  }

  drawFacts() {
    const node = (this.model.nodes || []).find((each) => each.node_id === this.chosen);
    if (!node) {
      this.chosen = "";
      show(this.facts);
      show(this.controls);
      return;
    }
    // Kept while it concerns the same state: the user may be typing into it.
    const steered = `${node.node_id} ${this.run.state} ${Boolean(node.solution)}`;
    if (this.steered !== steered || !this.controls.firstChild) show(this.controls, nodeSteering(this.run, node, this.refresh));
    this.steered = steered;
    const solution = node.solution;
    const facts = [["Decision", node.decision], ["Choice", node.choice], ["Description", node.action?.description], ["Rationale", node.action?.rationale],
      ["Score", node.action?.title && num(node.action.score).toFixed(2)], ["Notes", node.notes], ["Lessons", (node.lessons || []).join("\n")],
      ["Gains", (node.gains || []).join("\n")], ["Cycles without a pass", node.too_hard_count]];
    show(this.facts, el("h3", null, nameOf(node)),
      solution ? el("p", null, "Solved by ", el("a", { href: link("run", this.run.run_id, "candidate", solution.candidate_id) }, brief(solution.candidate_id)), ", ",
        times(gainOf(node)) || "passed", num(solution.confirmed_vs_baseline) ? ", confirmed" : "") : null,
      facts.filter(([, value]) => value).map(([name, value]) => el("p", null, el("span", { class: "quiet" }, name + ": "), value)));
  }
}
