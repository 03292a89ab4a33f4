// One run, live.
import { bestSoFar, legend } from "./chart.js";
import { CandidateTable } from "./candidate_table.js";
import { d3 } from "./d3.js";
import { card, el, show, table } from "./dom.js";
import { clock, count, date, link, num, outcome, seconds, span, times, usd } from "./format.js";
import { RunEvents, readEvents } from "./run_events.js";
import { memoryView } from "./run_memory.js";
import { stateOf } from "./runs_page.js";
import { follow, get, soon } from "./server.js";
import { steering } from "./steering.js";
import { TreeView } from "./tree_view.js";

// Events that change more of the tree than a lesson.
const OF_TREE = new Set(["WORLD_MODEL_READY", "NODE_SOLVED", "NODE_TOO_HARD", "NODE_INSERTED", "NODE_PRUNED", "CONFIRMATION_REFUSED", "NEW_INCUMBENT", "STEERED"]);
const AXES = { evaluations: "evaluations", time: "seconds", money: "US dollars", device: "seconds on a device" };

function summary(run) {
  const best = run.best;
  return el("div", { class: "cards" },
    card("State", stateOf(run)), card("Rounds", `${run.rounds_done || 0} / ${run.rounds_total || 0}`),
    card("Best confirmed", best ? el("a", { href: link("run", run.run_id, "candidate", best.candidate_id) }, `${times(best.speedup)} [${num(best.speedup_low).toFixed(2)}, ${num(best.speedup_high).toFixed(2)}]`) : "none yet"),
    card("Passed", `${count(run.passed)} / ${count(run.candidates)}`), card("Nodes", `${count(run.nodes)}, ${count(run.open_actions)} open`),
    card("Jobs in flight", count(run.jobs_in_flight)), card("Model", run.model || ""), card("Device", run.platform?.device_model || "not known yet"));
}

function spending(run) {
  const ledger = run.ledger || {};
  const share = num(run.rounds_done) / (num(run.rounds_total) || 1);
  const projected = (spent) => (share > 0 && share < 1 ? usd(num(spent) / share) : "");
  const of = (value, cap) => (cap === undefined ? value : `${value} of ${cap}`);
  return el("div", null, table(
    ["Model", { text: "Calls", number: true }, { text: "Tokens", number: true }, { text: "Spent", number: true }, { text: "Reserved", number: true }, { text: "Projected", number: true, title: "at the last round, if each round to come costs as much as those so far" }],
    (ledger.lines || []).map((line) => [line.scope || "all models",
      { text: of(count(line.llm_calls), line.llm_calls_cap && count(line.llm_calls_cap)), number: true },
      { text: of(count(line.tokens_spent), line.tokens_cap && count(line.tokens_cap)), number: true },
      { text: of(usd(line.nano_usd_spent), line.nano_usd_cap && usd(line.nano_usd_cap)), number: true },
      { text: usd(line.nano_usd_reserved), number: true }, { text: projected(line.nano_usd_spent), number: true }])),
  el("p", { class: "quiet" }, `Devices: ${of(span(seconds(ledger.gpu_time)), ledger.gpu_time_cap && span(seconds(ledger.gpu_time_cap)))}. `,
    `Evaluations: ${count(ledger.evaluations)}. Active: ${of(span(seconds(ledger.wall_time)), ledger.wall_time_cap && span(seconds(ledger.wall_time_cap)))}.`,
    ledger.unpriced ? " The price of a model is not known: the true cost is higher." : ""));
}

function failures(events) {
  const list = [...events.failures].sort((a, b) => b[1] - a[1]);
  if (!list.length) return el("p", { class: "quiet" }, "None.");
  const most = list[0][1];
  return table(["Kind", { text: "Count", number: true }, ""], list.map(([kind, number]) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${(15 * number) / most}em`;
    return [outcome(kind) || "unknown", { text: number, number: true }, bar];
  }));
}

// The newest 200 events. Rows of events never change.
function drawLog(body, events) {
  d3.select(body).selectAll("tr").data(events.events.slice(-200).reverse(), (event) => event.seq)
    .join((enter) => enter.append((event) => el("tr", null, el("td", { title: date(event.at) }, clock(event.at)),
      el("td", null, (event.kind || "").toLowerCase().replaceAll("_", " ")), el("td", null, event.text || "")))).order();
}

export async function runPage(place, page) {
  const id = page.id;
  const events = new RunEvents();
  let run = await get("GetRun", { run_id: id });
  const runId = run.run_id;
  const candidates = new CandidateTable(runId);
  // Read once: it does not change during the run.
  const memory = await get("GetRunMemory", { run_id: runId }).catch(() => ({}));
  const log = el("tbody");
  const parts = Object.fromEntries(["summary", "steering", "cycles", "chart", "spending", "failures"].map((name) => [name, el("div")]));
  const axis = el("select", { onchange: () => drawChart() }, Object.keys(AXES).map((name) => el("option", { value: name }, AXES[name])));
  const reason = el("p", { class: "warn" });

  const everything = soon(() => refresh().catch(() => {}), 1000);
  const tree = new TreeView(everything);
  let steered = "";  // the state that the buttons were made for

  const drawRun = () => {
    const now = `${run.state} ${run.paused || ""}`;
    if (steered !== now) show(parts.steering, steering(run, everything));
    steered = now;
    reason.textContent = [
      run.reason,
      run.platform_missing && "Device: " + run.platform_missing,
      run.degenerate && "This task is degenerate, so its results claim nothing: " + run.degenerate,
    ].filter(Boolean).join(". ");
    show(parts.summary, summary(run));
    show(parts.cycles, (run.cycles || []).map((cycle) => el("div", null,
      el("span", { class: "tag" }, `cycle ${cycle.cycle || 0}, attempt ${cycle.attempt || 0}`), " ", cycle.title || cycle.node_id || "", el("span", { class: "quiet" }, " " + (cycle.phase || "")))));
    show(parts.spending, spending(run));
  };
  const drawChart = () => show(parts.chart, events.points.length ? bestSoFar(events.points, axis.value, AXES[axis.value]) : el("p", { class: "quiet" }, "No candidate has been evaluated yet."));
  let drawn = -1;
  const drawEvents = () => {
    drawLog(log, events);
    if (drawn === events.changes) return;
    drawn = events.changes;
    drawChart();
    candidates.draw(events.candidates.values());
    show(parts.failures, failures(events));
  };
  const refreshTree = async () => {
    const model = await get("GetTree", { run_id: runId }).catch(() => ({}));
    if (!page.gone()) tree.draw(model, run);
  };
  const refresh = async () => {
    run = await get("GetRun", { run_id: runId });
    await readEvents(runId, events);
    if (page.gone()) return;
    drawRun();
    drawEvents();
    await refreshTree();
  };

  await refresh();
  const redraw = soon(async () => { if (!page.gone()) { drawRun(); drawEvents(); } }, 300);
  const treeSoon = soon(() => refreshTree().catch(() => {}), 500);
  const treeLater = soon(() => refreshTree().catch(() => {}), 4000);
  page.atEnd(follow(runId, (entry) => {
    if (!entry.run) return;
    const last = events.events.length ? num(events.events[events.events.length - 1].seq) : 0;
    if (num(entry.run.event.seq) > last + 1) return everything();
    if (!events.add(entry.run.event)) return;
    if (entry.run.status) run = entry.run.status;
    redraw();
    if (OF_TREE.has(entry.run.event.kind)) treeSoon();
    else treeLater();
  }, everything));

  show(place,
    el("h1", null, `${run.task} `, el("span", { class: "quiet" }, `run ${runId}, ${run.strategy || ""}`)),
    reason, parts.summary, parts.steering, parts.cycles,
    el("h2", null, "Best so far"), el("div", { class: "row" }, "against", axis, legend()), parts.chart,
    el("h2", null, "World model"), tree.place,
    el("h2", null, "Candidates"), candidates.place,
    el("h2", null, "Memory"), memoryView(memory),
    el("h2", null, "Failures"), parts.failures,
    el("h2", null, "Spending"), parts.spending,
    el("h2", null, "Events"), el("table", null, log));
}
