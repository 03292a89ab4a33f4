// The changes that people may make to a run. The coordinator refuses callers without the right.
import { el } from "./dom.js";
import { post } from "./server.js";

// A button that does something once, and shows the result.
export function action(label, work, question) {
  const said = el("span", { class: "quiet" });
  const button = el("button", {
    onclick: async () => {
      if (question && !confirm(question)) return;
      button.disabled = true;
      said.className = "quiet";
      said.textContent = " ...";
      try {
        said.textContent = " " + ((await work()) || "done");
      } catch (error) {
        said.className = "bad";
        said.textContent = " " + error.message;
      }
      button.disabled = false;
    },
  }, label);
  return el("span", null, button, said);
}

const ACTIVE = ["RUN_STATE_RUNNING", "RUN_STATE_STOPPING"];

// Sends one change of a run in progress. Sent once: a second click is another change.
async function steer(run, change) {
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
  await post("SteerRun", { run_id: run.run_id, request_id: id, ...change });
}

// The buttons that fit the run's state at the time of drawing.
export function steering(run, refresh) {
  const rounds = el("input", { type: "number", min: 1, step: 1, size: 6, placeholder: "rounds", title: "new total of rounds; empty: as it is" });
  if (!ACTIVE.includes(run.state)) {
    return el("div", { class: "row" }, action("Resume", async () => {
      await post("ResumeRun", { run_id: run.run_id, ...(rounds.value ? { rounds: Number(rounds.value) } : {}) });
      refresh();
    }), rounds);
  }
  return el("div", { class: "row" },
    action(run.paused ? "Continue" : "Pause", async () => {
      await steer(run, { pause: !run.paused });
      refresh();
    }),
    action("Stop", async () => {
      await post("StopRun", { run_id: run.run_id });
      refresh();
    }, "Stop this run? It can be resumed."));
}

// The changes that can be made at one node of the tree.
export function nodeSteering(run, node, refresh) {
  if (!ACTIVE.includes(run.state)) return null;
  const change = (make) => async () => {
    await steer(run, make());
    refresh();
  };
  const score = el("input", { type: "number", min: 0, max: 1, step: 0.05, value: (node.action?.score || 0).toFixed(2), title: "score, from 0 to 1" });
  const reason = el("input", { size: 24, placeholder: "why" });
  const title = el("input", { size: 32, placeholder: "an idea to try below this one" });
  const details = el("textarea", { rows: 2, placeholder: "its description, for the model" });
  const files = el("input", { type: "file", multiple: true, title: "the source files of a program" });
  const open = node.action?.title && !node.solution;
  return el("div", { class: "steering" },
    open ? el("div", { class: "row" }, score, action("Set score", change(() => ({
      edits: { ops: [{ update: { node_id: node.node_id, patch: { score: Number(score.value) } } }] },
    }))), reason, action("Prune", change(() => ({
      edits: { ops: [{ remove: { node_id: node.node_id, reason: reason.value } }] },
    })), "Prune this idea?")) : null,
    el("div", { class: "row" }, title, action("Add idea", change(() => {
      if (!title.value.trim()) throw new Error("The idea needs a title.");
      return { edits: { ops: [{ insert: { parent_id: node.node_id, node: { title: title.value.trim(), description: details.value, score: 0.9 } } }] } };
    }))), details,
    el("div", { class: "row" }, files, action("Give this program", async () => {
      if (!files.files.length) throw new Error("Choose the program's files.");
      const list = await Promise.all([...files.files].map(async (file) => ({ path: file.name, content: await file.text() })));
      await steer(run, { program: { parent_id: node.node_id, sources: { files: list } } });
      refresh();
    })));
}
