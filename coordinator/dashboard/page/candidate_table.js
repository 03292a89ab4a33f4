// The candidates of a run. Only visible rows are elements, so that ten thousand cost no more than forty.
import { d3 } from "./d3.js";
import { el, show } from "./dom.js";
import { brief, link, micros, num, outcome, times } from "./format.js";

const ROW_PIXELS = 28, MARGIN_ROWS = 12;  // as in the style sheet
const COLUMNS = [
  ["Candidate", (each) => each.id, (each, run) => el("a", { href: link("run", run, "candidate", each.id) }, brief(each.id))],
  ["Round", (each) => num(each.round), (each) => each.round || "", true],
  ["Node", (each) => each.node || "", (each) => each.node || ""],
  ["State", (each) => each.state, (each) => el("span", { class: { passed: "good", confirmed: "good", failed: "bad", refused: "warn" }[each.state] || "quiet" }, each.state)],
  ["Outcome", (each) => each.outcome || "", (each) => el("span", { title: each.text }, outcome(each.outcome))],
  ["Speed-up", (each) => num(each.confirmed) || num(each.speedup), (each) => times(num(each.confirmed) || each.speedup), true],
  ["Latency", (each) => num(each.latency), (each) => micros(each.latency), true],
  ["Parent", (each) => each.parents?.[0] || "", (each, run) => (each.parents || []).map((id) => el("a", { href: link("run", run, "candidate", id) }, brief(id), " "))],
  ["Device", (each) => each.device || "", (each) => each.device || ""],
];

export class CandidateTable {
  constructor(runId) {
    this.runId = runId;
    this.by = 1;
    this.down = true;
    this.candidates = [];
    this.filter = el("input", { type: "search", placeholder: "filter: id, node, state, outcome, device", size: 40, oninput: () => this.drawAgain() });
    this.count = el("span", { class: "quiet" });
    this.heads = el("tr");
    this.body = el("tbody");
    this.above = el("div");
    this.below = el("div");
    let asked = false;
    this.window = el("div", {
      class: "window", tabindex: 0,
      onscroll: () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => { asked = false; this.drawRows(); });
      },
    }, el("table", { class: "heads" }, el("thead", null, this.heads)), this.above, el("table", null, this.body), this.below);
    this.place = el("div", null, el("div", { class: "row" }, this.filter, this.count), this.window);
  }

  draw(candidates) {
    this.candidates = [...candidates];
    this.drawAgain();
  }

  // Called after sorting and filtering, too.
  drawAgain() {
    const key = COLUMNS[this.by][1], order = this.down ? d3.descending : d3.ascending;
    const wanted = this.filter.value.trim().toLowerCase();
    const holds = (each) => [each.id, each.node, each.state, outcome(each.outcome), each.device].some((text) => (text || "").toLowerCase().includes(wanted));
    this.list = (wanted ? this.candidates.filter(holds) : [...this.candidates]).sort((a, b) => order(key(a), key(b)));
    this.count.textContent = wanted ? `${this.list.length} of ${this.candidates.length}` : `${this.candidates.length}`;
    show(this.heads, COLUMNS.map(([name, , , number], at) => el("th", {
      class: "sorts" + (number ? " number" : ""),
      onclick: () => {
        this.down = this.by === at ? !this.down : true;
        this.by = at;
        this.drawAgain();
      },
    }, name + (this.by === at ? (this.down ? " ↓" : " ↑") : ""))));
    show(this.body);  // clears the rows, whose texts may have changed
    this.drawRows();
  }

  drawRows() {
    const first = Math.max(0, Math.floor(this.window.scrollTop / ROW_PIXELS) - MARGIN_ROWS);
    const last = Math.min(this.list.length, Math.ceil((this.window.scrollTop + (this.window.clientHeight || 600)) / ROW_PIXELS) + MARGIN_ROWS);
    this.above.style.height = `${first * ROW_PIXELS}px`;
    this.below.style.height = `${Math.max(0, this.list.length - last) * ROW_PIXELS}px`;
    d3.select(this.body).selectAll("tr").data(this.list.slice(first, last), (each) => each.id)
      .join((enter) => enter.append((each) => el("tr", null, COLUMNS.map(([, , cell, number]) => el("td", { class: number ? "number" : null }, cell(each, this.runId))))))
      .order();
  }
}
