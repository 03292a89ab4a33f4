// Workers with their devices, and the jobs that wait or are in progress.
import { card, el, show, table } from "./dom.js";
import { brief, clock, count, date, num, word } from "./format.js";
import { follow, get, post, soon } from "./server.js";
import { action } from "./steering.js";

const SHOWN = 100;

function state(worker) {
  if (!worker.connected) return el("span", { class: "quiet" }, "gone");
  if (worker.report?.draining) return el("span", { class: "warn" }, "draining");
  const health = worker.report?.health;
  if (health && !health.healthy) return el("span", { class: "bad" }, "unhealthy: " + (health.reason || ""));
  const sick = health?.sick_devices || [];
  return sick.length ? el("span", { class: "warn" }, sick.map((each) => `${brief(each.device_id)}: ${each.reason || ""}`).join("; ")) : el("span", { class: "good", title: health?.reason || "" }, "ready");
}

// NVML's reasons for lower clocks; the other reasons are harmless.
const THROTTLED = [[0x4, "power cap"], [0x20, "heat"], [0x40, "heat (hardware)"], [0x8, "hardware slow-down"], [0x80, "power brake"]];

// A GPU's latest readings; unknown ones are left out.
function reading(worker, device) {
  const read = worker.connected && (worker.report?.health?.readings || []).find((each) => each.device_id === device.fingerprint?.device_id);
  if (!read) return null;
  const watts = (milliwatts) => Math.round(milliwatts / 1000);
  const power = read.power_milliwatts && watts(read.power_milliwatts) + (read.power_limit_milliwatts ? ` of ${watts(read.power_limit_milliwatts)}` : "") + " W";
  const throttled = THROTTLED.filter(([bit]) => num(read.throttle_reasons) & bit).map(([, name]) => name).join(", ");
  return el("div", { class: "quiet", title: read.memory_clock_mhz ? `memory at ${read.memory_clock_mhz} MHz` : null },
    [read.sm_clock_mhz && read.sm_clock_mhz + " MHz", read.temperature_celsius && read.temperature_celsius + " °C", power].filter(Boolean).join(" · "),
    throttled ? el("span", { class: "warn" }, ` throttled: ${throttled}`) : null);
}

export async function fleetPage(place, page) {
  const parts = { cards: el("div"), workers: el("div"), jobs: el("div"), log: el("div", { class: "quiet" }, "None yet.") };
  const heard = [];
  const refresh = async () => {
    const [facts, workers, jobs] = await Promise.all([get("GetServerFacts"), get("ListWorkers"), get("ListJobs")]);
    if (page.gone()) return;
    show(parts.cards, el("div", { class: "cards" }, card("Workers connected", facts.workers_connected || 0), card("Jobs waiting", count(facts.jobs_queued)), card("Jobs in progress", count(facts.jobs_leased)),
      card("Version", facts.version || ""), card("Up since", date(facts.started_at))),
    (facts.provider_facts || []).filter((each) => each.unusable).map((each) => el("p", { class: "bad" }, `Provider ${each.name}: ${each.unusable}`)));
    show(parts.workers, table(["Worker", "State", "Devices", "Working on", { text: "Free slots", number: true }, { text: "Jobs done", number: true }, "Last report", ""],
      (workers.workers || []).map((worker) => [
        { text: worker.name || worker.worker_id, title: worker.worker_id }, state(worker),
        (worker.hello?.devices || []).map((device) => el("div", { title: device.fingerprint?.device_id }, `${device.fingerprint?.name || ""} `, el("span", { class: "quiet" }, `${device.fingerprint?.architecture || ""} ${device.build_only ? "builds only" : ""}`), reading(worker, device))),
        (worker.report?.leases || []).map((lease) => el("div", null, brief(lease.job_id), " ", el("span", { class: "quiet" }, (lease.state || "").toLowerCase()))),
        { text: worker.connected ? worker.report?.free_slots || 0 : "", number: true }, { text: count(worker.jobs_done), number: true }, clock(worker.last_report_at),
        worker.connected ? action("Drain", () => post("DrainWorker", { worker_id: worker.worker_id }).then(() => "asked"), "Let this worker finish its jobs and then stop?") : ""])));
    const list = jobs.jobs || [];
    const names = new Map((workers.workers || []).map((worker) => [worker.worker_id, worker.name]));
    show(parts.jobs, !list.length ? el("p", { class: "quiet" }, "None.") : table(["Job", "Kind", "Task", "State", "Worker", "Since", "Note"], list.slice(0, SHOWN).map((job) =>
      [{ text: brief(job.job_id), title: job.job_id }, word(job.kind, "JOB_KIND_"), job.task || "", (job.stage || job.state || "").toLowerCase(), { text: names.get(job.worker_id) || job.worker_id || "", title: job.worker_id }, clock(job.created_at), job.note || ""])),
    list.length > SHOWN ? el("p", { class: "quiet" }, `and ${list.length - SHOWN} more`) : null);
  };
  await refresh();
  const again = soon(() => refresh().catch(() => {}), 1000);
  page.atEnd(follow("", (entry) => {
    if (!entry.fleet) return;
    heard.unshift(entry.fleet);
    heard.length = Math.min(heard.length, 100);
    parts.log.className = "";
    show(parts.log, table(["Time", "Event", "Worker", "Job", ""], heard.map((event) =>
      [clock(event.at), word(event.kind, ""), event.worker_name || event.worker_id || "", brief(event.job_id), event.text || word(event.stage, "") || word(event.outcome, "OUTCOME_")])));
    again();
  }, again, again));  // GPU readings change without an event
  show(place, el("h1", null, "Fleet"), parts.cards, el("h2", null, "Workers"), parts.workers, el("h2", null, "Jobs"), parts.jobs, el("h2", null, "Events since this page was opened"), parts.log);
}
