// All runs, newest first.
import { el, show, table } from "./dom.js";
import { count, date, link, num, times, usd, word } from "./format.js";
import { follow, get, soon } from "./server.js";

export function stateOf(run) {
  const state = word(run.state, "RUN_STATE_");
  const kinds = { running: "good", failed: "bad", "out of budget": "warn", stopping: "warn" };
  return el("span", { class: kinds[state] || "quiet", title: run.reason }, state);
}

export async function runsPage(place, page) {
  const list = el("div");
  const refresh = async () => {
    const runs = (await get("ListRuns")).runs || [];
    if (page.gone()) return;
    if (!runs.length) {
      show(list, el("p", { class: "quiet" }, "No run yet. Start one with: ksearch run --task NAME"));
      return;
    }
    show(list, table(
      ["Run", "Task", "State", { text: "Rounds", number: true }, { text: "Best confirmed", number: true },
        { text: "Best screened", number: true }, { text: "Passed", number: true }, { text: "Spent", number: true }, "Strategy", "Model", "Started"],
      runs.map((run) => el("tr", { class: "link", onclick: () => { location.hash = link("run", run.run_id); } },
        el("td", null, el("a", { href: link("run", run.run_id) }, run.run_id)), el("td", null, run.task), el("td", null, stateOf(run)),
        el("td", { class: "number" }, (run.rounds_done || 0) + " / " + (run.rounds_total || 0)),
        el("td", { class: "number" }, times(run.best?.speedup)),
        el("td", { class: "number" }, num(run.best_screened) > 0 ? num(run.best_screened).toPrecision(4) : ""),
        el("td", { class: "number" }, count(run.passed) + " / " + count(run.candidates)),
        el("td", { class: "number" }, usd(run.ledger?.lines?.[0]?.nano_usd_spent)),
        el("td", null, run.strategy), el("td", null, run.model), el("td", null, date(run.started_at))))));
  };
  await refresh();
  const again = soon(() => refresh().catch(() => {}), 1000);
  page.atEnd(follow("", (entry) => { if (entry.run) again(); }, again));
  show(place, el("h1", null, "Runs"), list);
}
