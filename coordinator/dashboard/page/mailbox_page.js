// Prompts that wait for a person.
import { el, show } from "./dom.js";
import { date } from "./format.js";
import { follow, get, post, soon } from "./server.js";
import { action } from "./steering.js";

export async function mailboxPage(place, page) {
  const list = el("div");
  const open = new Map();  // id -> element, kept so that text being typed stays
  const entry = (prompt) => {
    const messages = el("div");
    const answer = el("textarea", { rows: 16, placeholder: "The whole reply" });
    const who = el("input", { placeholder: "who answers", size: 20 });
    const whole = el("details", {
      ontoggle: async () => {
        if (!whole.open || messages.firstChild) return;
        try {
          const full = await get("GetPrompt", { id: prompt.id });
          show(messages, (full.prompt.messages || []).map((each) => [el("h3", null, each.role || ""), el("pre", null, each.content || "")]));
        } catch (error) {
          show(messages, el("p", { class: "bad" }, error.message));
        }
      },
    }, el("summary", null, `${prompt.purpose || "prompt"} `, el("span", { class: "quiet" }, `run ${prompt.run || ""}, node ${prompt.node || "none"}, attempt ${prompt.attempt || 0}, ${date(prompt.created_at)}`)),
    messages, answer, el("div", { class: "row" }, who, action("Answer", async () => {
      if (!answer.value.trim()) throw new Error("The answer is empty.");
      await post("AnswerPrompt", { answer: { id: prompt.id, answer: answer.value, answered_by: who.value } });
      again();
      return "delivered";
    })));
    return whole;
  };
  const refresh = async () => {
    const prompts = ((await get("ListPrompts")).prompts || []).filter((each) => !each.answer_delivered).map((each) => each.prompt);
    if (page.gone()) return;
    for (const id of [...open.keys()]) if (!prompts.some((prompt) => prompt.id === id)) open.delete(id);
    for (const prompt of prompts) if (!open.has(prompt.id)) open.set(prompt.id, entry(prompt));
    show(list, open.size ? [...open.values()] : el("p", { class: "quiet" }, "No prompt waits for an answer. Start a run that asks here: ksearch run --task NAME --provider mailbox"));
  };
  const again = soon(() => refresh().catch(() => {}), 1500);
  await refresh();
  page.atEnd(follow("", again, again));
  show(place, el("h1", null, "Mailbox"), el("p", { class: "quiet" }, "Prompts of runs whose provider is a mailbox. An answer is taken like a model's."), list);
}
