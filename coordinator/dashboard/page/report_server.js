// Replaces server.js in a report: answers from what the file contains, and changes nothing.
const recorded = JSON.parse(document.getElementById("recorded").textContent);
if (!location.hash || location.hash === "#/") location.replace("#/run/" + encodeURIComponent(recorded.run.run_id));
document.getElementById("connection").textContent = "a report, made " + new Date(recorded.made_at).toLocaleString([], { hour12: false });

export function on() {}

export function keepToken() {}

export async function get(method, fields) {
  if (method === "GetRun") return recorded.run;
  if (method === "ListRuns") return { runs: [recorded.run] };
  if (method === "GetTree" && recorded.tree) return recorded.tree;
  if (method === "ListEvents") {
    const after = Number(fields.after_seq || 0);
    return { events: recorded.events.filter((event) => Number(event.seq) > after).slice(0, 1000) };
  }
  if (method === "GetCandidate") {
    const found = recorded.candidates.find((each) => each.candidate_id.startsWith(fields.candidate_id));
    if (found) return found;
    throw new Error("This report has nothing more of candidate " + fields.candidate_id + ".");
  }
  throw new Error("A report has one run and nothing else.");
}

export async function post() {
  throw new Error("A report changes nothing.");
}

export function follow() {
  return () => {};
}

export function soon() {
  return () => {};
}
