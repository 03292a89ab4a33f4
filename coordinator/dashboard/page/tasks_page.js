// The tasks that can be optimized.
import { el, show, table } from "./dom.js";
import { word } from "./format.js";
import { get } from "./server.js";

export async function tasksPage(place) {
  const tasks = (await get("ListTasks")).tasks || [];
  show(place, el("h1", null, "Tasks"), table(["Task", "Title", "Device", "Languages", "Workloads", ""], tasks.map((task) =>
    [task.name, task.title || "", word(task.device, "DEVICE_CLASS_"), (task.languages || []).map((each) => word(each, "LANGUAGE_")).join(", "),
      `${task.feedback_workloads || 0} + ${task.held_out_workloads || 0} held out`, el("span", { class: "bad" }, task.error || task.fault || "")])));
}
