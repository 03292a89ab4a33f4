// What a run read from the memory of measured gains at its start, and what its prompts show of it.
import { el, table } from "./dom.js";
import { count, date, num, word } from "./format.js";

function gain(prior) {
  if (!num(prior.passed)) return "";
  const [median, low, high] = [prior.median_speedup, prior.low_speedup, prior.high_speedup].map((value) => num(value).toFixed(2));
  return `${median}x [${low}, ${high}]`;
}

// `memory`: a RunMemory.
export function memoryView(memory) {
  const snapshot = memory.snapshot;
  if (!snapshot) return el("p", { class: "quiet" }, "This run read no gains of earlier runs.");
  return el("details", null,
    el("summary", null, `${count(snapshot.priors?.length)} priors of ${count(snapshot.gains)} measured gains, read ${date(snapshot.read_at)}`),
    table(["Task", "Intent", "Limited by", "Over", { text: "Tried", number: true }, { text: "Right", number: true }, { text: "Faster", number: true }, { text: "Tasks", number: true },
      { text: "Speedup", number: true, title: "median, with quartiles" }],
      (snapshot.priors || []).map((prior) => [prior.same_op_type ? "the same operation" : "others",
        word(prior.intent, "INTENT_KIND_") || "other", word(prior.bottleneck, "BOTTLENECK_") || "not known", prior.over_baseline ? "the baseline" : "a program",
        ...[prior.tried, prior.passed, prior.faster, prior.tasks].map((value) => ({ text: count(value), number: true })), { text: gain(prior), number: true }])),
    el("p", { class: "quiet" }, "Counted over earlier runs, by what a change was meant to do; shown to whoever plans."));
}
