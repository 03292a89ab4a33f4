// All runs, newest first. Follows only the feed: each entry carries its run's status.
import { el, show, table } from "./dom.js";
import { count, date, link, num, times, usd, word } from "./format.js";
import { follow, get, soon } from "./server.js";

export function stateOf(run) {
  const state = run.paused ? "paused" : word(run.state, "RUN_STATE_");
  const kinds = { running: "good", failed: "bad", paused: "warn", "out of budget": "warn", stopping: "warn" };
  return el("span", { class: kinds[state] || "quiet", title: run.reason }, state);
}

export async function runsPage(place, page) {
  const list = el("div");
  let runs = new Map();  // by id, newest first
  const draw = () => {
    if (page.gone()) return;
    if (!runs.size) {
      show(list, el("p", { class: "quiet" }, "No run yet. Start one with: ksearch run --task NAME"));
      return;
    }
    show(list, table(
      ["Run", "Task", "State", { text: "Rounds", number: true }, { text: "Best confirmed", number: true },
        { text: "Best screened", number: true }, { text: "Passed", number: true }, { text: "Spent", number: true }, "Strategy", "Model", "Started"],
      [...runs.values()].map((run) => el("tr", { class: "link", onclick: () => { location.hash = link("run", run.run_id); } },
        el("td", null, el("a", { href: link("run", run.run_id) }, run.run_id)), el("td", null, run.task), el("td", null, stateOf(run)),
        el("td", { class: "number" }, (run.rounds_done || 0) + " / " + (run.rounds_total || 0)),
        el("td", { class: "number" }, times(run.best?.speedup)),
        el("td", { class: "number" }, num(run.best_screened) > 0 ? num(run.best_screened).toPrecision(4) : ""),
        el("td", { class: "number" }, count(run.passed) + " / " + count(run.candidates)),
        el("td", { class: "number" }, usd(run.ledger?.lines?.[0]?.nano_usd_spent)),
        el("td", null, run.strategy), el("td", null, run.model), el("td", null, date(run.started_at))))));
  };
  const refresh = async () => {
    runs = new Map(((await get("ListRuns")).runs || []).map((run) => [run.run_id, run]));
    draw();
  };
  await refresh();
  const again = soon(() => refresh().catch(() => {}), 1000);
  const later = soon(async () => draw(), 300);
  page.atEnd(follow("", (entry) => {
    if (!entry.run) return;
    const { run_id: id, status } = entry.run;
    if (!status) return again();  // an entry read again after a disconnect has no status
    if (runs.has(id)) runs.set(id, status);
    else runs = new Map([[id, status], ...runs]);
    later();
  }, again));
  show(place, el("h1", null, "Runs"), list);
}
