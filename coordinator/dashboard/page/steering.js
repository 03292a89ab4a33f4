// What people may change about a run. The coordinator says no to who may not.
import { el } from "./dom.js";
import { post } from "./server.js";

// A button that does something once, and says what came of it.
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

// What fits the run's state as it was when this was drawn.
export function steering(run, refresh) {
  const active = ["RUN_STATE_RUNNING", "RUN_STATE_STOPPING"].includes(run.state);
  const rounds = el("input", { type: "number", min: 1, step: 1, size: 6, placeholder: "rounds", title: "new total of rounds; empty: as it is" });
  return el("div", { class: "row" }, active ? action("Stop", async () => {
    await post("StopRun", { run_id: run.run_id });
    refresh();
  }, "Stop this run? It can be resumed.") : [
    action("Resume", async () => {
      await post("ResumeRun", { run_id: run.run_id, ...(rounds.value ? { rounds: Number(rounds.value) } : {}) });
      refresh();
    }), rounds]);
}
