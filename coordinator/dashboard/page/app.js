// Shows the page that the address names after '#', and what all pages have in common.
import { el, show } from "./dom.js";
import { keepToken, on } from "./server.js";
import { runsPage } from "./runs_page.js";
import { runPage } from "./run_page.js";
import { candidatePage } from "./candidate_page.js";
import { fleetPage } from "./fleet_page.js";
import { mailboxPage } from "./mailbox_page.js";
import { tasksPage } from "./tasks_page.js";

const main = document.getElementById("main");
const notices = document.getElementById("notices");
const connection = document.getElementById("connection");
let leave = () => {};

function notice(id, ...content) {
  document.getElementById(id)?.remove();
  if (content.length) notices.append(el("div", { id, class: "notice" }, content));
}

on("stale", () => notice("stale", "The coordinator was upgraded since this page was loaded. ",
  el("a", { href: "", onclick: (event) => { event.preventDefault(); location.reload(); } }, "Load it again.")));
on("connection", (there) => { connection.textContent = there ? "live" : "not connected, trying again"; });
on("token", (why) => {
  if (document.getElementById("token")) return;
  const field = el("input", { type: "password", placeholder: "ks_...", size: 50, autocomplete: "off" });
  notice("token", el("form", {
    class: "row",
    onsubmit: (event) => {
      event.preventDefault();
      keepToken(field.value.trim());
      notice("token");
      route();
    },
  }, el("span", null, why || "This coordinator needs an access token."), field, el("button", null, "Use")));
});

// The address that `ksearch up` prints brings its token along; it does not stay in the history.
function takeToken() {
  const found = location.hash.match(/^#token=([A-Za-z0-9_]+)$/);
  if (!found) return;
  keepToken(found[1]);
  history.replaceState(null, "", "#/");
}

async function route() {
  takeToken();
  leave();
  leave = () => {};
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const pages = { "": runsPage, run: runPage, fleet: fleetPage, mailbox: mailboxPage, tasks: tasksPage };
  const page = parts[0] === "run" && parts[2] === "candidate" ? candidatePage : pages[parts[0]] || runsPage;
  const place = el("div");
  let gone = false;
  const leaving = [];
  leave = () => { gone = true; leaving.forEach((each) => each()); };
  try {
    await page(place, { id: parts[1], candidate: parts[3], atEnd: (work) => (gone ? work() : leaving.push(work)), gone: () => gone });
  } catch (error) {
    show(place, el("p", { class: "bad" }, error.message));
  }
  if (!gone) show(main, place);
}

addEventListener("hashchange", route);
route();
