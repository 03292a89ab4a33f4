// The candidates of a run. Rows are made as they are asked for.
import { el, show } from "./dom.js";
import { brief, link, micros, num, outcome, times } from "./format.js";

const STEP = 100;
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
    this.shown = STEP;
    this.place = el("div");
  }

  draw(candidates) {
    this.candidates = [...candidates];  // drawn again when sorted or unfolded
    const key = COLUMNS[this.by][1];
    const list = [...this.candidates].sort((a, b) => {
      const x = key(a), y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (this.down ? -1 : 1);
    });
    const heads = COLUMNS.map(([name, , , number], at) => el("th", {
      class: "sorts" + (number ? " number" : ""),
      onclick: () => {
        this.down = this.by === at ? !this.down : true;
        this.by = at;
        this.draw(this.candidates);
      },
    }, name + (this.by === at ? (this.down ? " ↓" : " ↑") : "")));
    const rows = list.slice(0, this.shown).map((each) => el("tr", null,
      COLUMNS.map(([, , cell, number]) => el("td", { class: number ? "number" : null }, cell(each, this.runId)))));
    show(this.place, el("table", null, el("thead", null, el("tr", null, heads)), el("tbody", null, rows)),
      list.length > this.shown ? el("button", { onclick: () => { this.shown *= 5; this.draw(this.candidates); } }, `Show more of ${list.length}`) : null);
  }
}
