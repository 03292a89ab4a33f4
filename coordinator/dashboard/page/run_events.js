// What a run's events add up to: candidates, the best so far, failures, costs.
import { num, seconds } from "./format.js";
import { get } from "./server.js";

export class RunEvents {
  constructor() {
    this.events = [];
    this.candidates = new Map();  // by id, in order of first mention
    this.points = [];             // for the best-so-far chart, one for each judged candidate
    this.failures = new Map();    // outcome -> count
    this.calls = new Set();
    this.nanoUsd = 0;
    this.deviceSeconds = 0;
    this.evaluations = 0;
    this.start = null;
    this.changes = 0;  // counts changes of everything but `events`
  }

  // Returns false if the event is known already.
  add(event) {
    const seq = num(event.seq);
    if (this.events.length && seq <= num(this.events[this.events.length - 1].seq)) return false;
    this.events.push(event);
    if (!this.start) this.start = Date.parse(event.at);
    if (event.call && !this.calls.has(event.call.call_id)) {
      this.calls.add(event.call.call_id);
      this.nanoUsd += num(event.call.nano_usd);
    }
    this.deviceSeconds += seconds(event.candidate?.device_time) + seconds(event.confirmation?.device_time);
    if (event.kind === "REPLY_UNUSABLE") this.fail("reply unusable");
    if (event.candidate_id) this.addCandidate(event);
    return true;
  }

  fail(kind) {
    this.changes += 1;
    this.failures.set(kind, (this.failures.get(kind) || 0) + 1);
  }

  addCandidate(event) {
    this.changes += 1;
    const known = this.candidates.get(event.candidate_id) ||
      { id: event.candidate_id, at: event.at, round: event.round, node: event.node_id, cycle: event.cycle, state: "proposed", confirmed: 0 };
    this.candidates.set(event.candidate_id, known);
    const detail = event.candidate;
    if (detail) known.parents = detail.parent_ids || known.parents;
    if (event.kind === "CANDIDATE_PASSED" || event.kind === "CANDIDATE_FAILED") {
      const passed = event.kind === "CANDIDATE_PASSED";
      known.state = passed ? "passed" : "failed";
      known.outcome = detail?.outcome || (passed ? "OUTCOME_PASSED" : "");
      known.text = event.text;
      known.score = event.score;
      known.latency = detail?.latency_us;
      known.speedup = detail?.speedup;
      known.device = detail?.device_name;
      known.worker = detail?.worker_id;
      this.evaluations += 1;
      if (!passed) this.fail(known.outcome);
      this.points.push(this.point(event, passed, num(detail?.speedup) || num(event.score)));
    }
    if (event.kind === "NEW_INCUMBENT") {
      known.state = "confirmed";
      known.confirmed = num(event.confirmation?.over_baseline) || num(event.confirmation?.speedup);
      this.points.push({ ...this.point(event, true, known.confirmed), confirmed: true });
    }
    if (event.kind === "CONFIRMATION_REFUSED") known.state = "refused";
  }

  point(event, passed, value) {
    return {
      id: event.candidate_id, passed, value,
      evaluations: this.evaluations,
      time: (Date.parse(event.at) - this.start) / 1000,
      money: this.nanoUsd / 1e9,
      device: this.deviceSeconds,
    };
  }
}

// Reads all events so far, page by page.
export async function readEvents(runId, into) {
  for (;;) {
    const last = into.events.length ? into.events[into.events.length - 1].seq : "0";
    const events = (await get("ListEvents", { run_id: runId, after_seq: last })).events || [];
    for (const event of events) into.add(event);
    if (events.length < 1000) return;
  }
}
