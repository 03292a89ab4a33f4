// One candidate: where it came from, what it is, and how it did.
import { samplePlot } from "./chart.js";
import { card, el, show, table } from "./dom.js";
import { brief, date, link, micros, num, outcome, seconds, span, times } from "./format.js";
import { lineDiff } from "./line_diff.js";
import { get } from "./server.js";

// A section whose content is made when it is opened.
function fold(title, make, open) {
  const body = el("div");
  const fill = () => { if (!body.firstChild) show(body, make()); };
  const whole = el("details", { open, ontoggle: () => { if (whole.open) fill(); } }, el("summary", null, title), body);
  if (open) fill();
  return whole;
}

const files = (candidate) => candidate?.sources?.files || [];

function diff(parent, candidate) {
  const before = new Map(files(parent).map((file) => [file.path, file.content || ""]));
  return files(candidate).map((file) => [el("h3", null, file.path),
    el("pre", { class: "source" }, lineDiff(before.get(file.path) || "", file.content || "").map(([kind, line]) =>
      el("span", { class: kind }, { same: "  ", added: "+ ", removed: "- " }[kind] + line)))]);
}

function call(each) {
  return [el("p", { class: "quiet" }, `${each.purpose || ""}, ${each.model || ""}, ${num(each.input_tokens)} tokens in, ${num(each.output_tokens)} out`),
    el("h3", null, "Prompt"), el("pre", null, each.prompt || ""), el("h3", null, "Reply"), el("pre", null, each.reply || "")];
}

function build(report) {
  if (!report) return null;
  const kernels = report.kernels || [];
  return fold(`Build: ${report.cached ? "cached, " : ""}${span(seconds(report.wall_time))}`, () => [
    el("p", { class: "quiet" }, [report.compiler, report.flags, report.architecture].filter(Boolean).join("; ")),
    kernels.length ? table(["Kernel", { text: "Registers", number: true }, { text: "Shared", number: true }, { text: "Spills", number: true }],
      kernels.map((kernel) => [kernel.name, { text: kernel.registers || 0, number: true }, { text: num(kernel.static_shared_bytes) + num(kernel.dynamic_shared_bytes), number: true },
        { text: num(kernel.spill_store_bytes) + num(kernel.spill_load_bytes), number: true }])) : null,
    (report.diagnostics || []).map((each) => el("pre", null, `${each.file || ""}:${each.line || ""} ${each.severity || ""}: ${each.message || ""}`)),
    report.log_excerpt ? el("pre", null, report.log_excerpt) : null], !!(report.diagnostics || []).length);
}

function workload(each) {
  const samples = each.candidate, right = each.correctness;
  const roof = each.floor_us && samples?.median_us ? (100 * each.floor_us) / samples.median_us : 0;
  const facts = [outcome(each.outcome), samples?.median_us && "median " + micros(samples.median_us),
    samples && each.baseline?.median_us && times(each.baseline.median_us / samples.median_us) + " over the baseline",
    roof && (roof < 1 ? "under 1" : roof.toFixed(0)) + " % of the roofline", each.sm_clock_mhz && Math.round(each.sm_clock_mhz) + " MHz", samples?.unstable && "unstable"].filter(Boolean).join(", ");
  return fold(`${each.workload_uuid}: ${facts}`, () => [
    each.message ? el("pre", null, each.message) : null,
    right ? table(["Largest absolute error", "Largest relative error", "Matched", "Worst output"],
      [[num(right.max_abs_error).toPrecision(4), num(right.max_rel_error).toPrecision(4), (100 * num(right.matched_ratio)).toFixed(3) + " %", right.worst_output || ""]]) : null,
    samples?.latency_us?.length ? [el("p", { class: "quiet" }, `${samples.latency_us.length} calls, median ${micros(samples.median_us)} [${micros(samples.ci_low_us)}, ${micros(samples.ci_high_us)}] at 95 %`), samplePlot(samples)] : null], false);
}

function comparison(each) {
  const ratio = (log) => Math.exp(num(log)).toFixed(3) + "x";
  return el("p", null, `Against ${brief(each.rival_id)}: ${(each.verdict || "").toLowerCase()}, ${ratio(each.log_speedup)} [${ratio(each.ci_low)}, ${ratio(each.ci_high)}], ${each.launches || 0} launches`);
}

// What was asked of the worker, as far as the result shows it.
function kind(each) {
  if (each.profile) return "Profile";
  if (each.comparisons?.length) return "Confirmation";
  return (each.workloads || []).some((one) => one.candidate?.median_us) ? "Screening" : "Evaluation";
}

function result(each) {
  return el("div", null,
    el("h3", null, `${kind(each)}: ${outcome(each.outcome)} `, el("span", { class: "quiet" }, `${each.device?.name || ""}, worker ${each.worker_id || ""}, ${date(each.finished_at)}`)),
    each.message ? el("pre", null, each.message) : null,
    (each.suspicions || []).map((text) => el("p", { class: "bad" }, text)),
    (each.comparisons || []).map(comparison), build(each.build), (each.workloads || []).map(workload),
    each.stderr_excerpt ? fold("What it printed", () => el("pre", null, each.stderr_excerpt)) : null);
}

export async function candidatePage(place, page) {
  const candidate = await get("GetCandidate", { run_id: page.id, candidate_id: page.candidate });
  const parentId = candidate.parent_candidate_id;
  const parent = parentId ? await get("GetCandidate", { run_id: page.id, candidate_id: parentId }).catch(() => null) : null;
  const planning = candidate.world_model_calls || [];
  show(place,
    el("h1", null, el("a", { href: link("run", page.id) }, "run"), ` / candidate ${candidate.candidate_id}`),
    el("div", { class: "cards" }, card("Round", candidate.round || "seed"), card("Cycle, attempt", `${candidate.cycle || 0}, ${candidate.attempt || 0}`), card("Node", candidate.node_id || "none"),
      card("Score", num(candidate.score) > 0 ? num(candidate.score).toPrecision(4) : "none"),
      card("Parent", parentId ? el("a", { href: link("run", page.id, "candidate", parentId) }, brief(parentId)) : "none")),
    el("h2", null, "Results"), (candidate.results || []).map(result), candidate.results?.length ? null : el("p", { class: "quiet" }, "None yet."),
    candidate.packet ? fold("What prompts say about its performance", () => el("pre", null, candidate.packet)) : null,
    el("h2", null, "Source"), files(candidate).map((file) => fold(file.path, () => el("pre", { class: "source" }, file.content || ""), true)),
    parent ? fold("Changes since its parent", () => diff(parent, candidate), true) : null,
    candidate.call ? [el("h2", null, "The call it came from"), fold("Prompt and reply", () => call(candidate.call))] : null,
    planning.length ? [el("h2", null, "Calls that planned for its node"), planning.map((each) => fold(each.purpose || each.call_id, () => call(each)))] : null);
}
