// Calls the coordinator and follows events. If a token is needed, the page asks for it and keeps it
// for this tab only; it is sent in a header, never in an address or a cookie.
const KEY = "ksearch-token";
const OWN = document.querySelector("meta[name=ksearch-page]").content;
const listeners = { stale: () => {}, token: () => {}, connection: () => {} };

export function on(name, listener) {
  listeners[name] = listener;
}

export function keepToken(token) {
  if (token) sessionStorage.setItem(KEY, token);
  else sessionStorage.removeItem(KEY);
}

function headers(more) {
  const token = sessionStorage.getItem(KEY);
  return { "X-Ksearch": "1", ...(token ? { Authorization: "Bearer " + token } : {}), ...more };
}

async function read(response) {
  const page = response.headers.get("X-Ksearch-Page");
  if (page && page !== OWN) listeners.stale();
  const reply = await response.json().catch(() => ({ error: "the answer is not JSON" }));
  if (response.ok) return reply;
  if (response.status === 401) listeners.token(reply.error);
  const error = new Error(reply.error || "HTTP status " + response.status);
  error.status = response.status;
  throw error;
}

export async function get(method, fields) {
  const query = new URLSearchParams(fields || {}).toString();
  return read(await fetch("/api/v1/" + method + (query ? "?" + query : ""), { headers: headers() }));
}

export async function post(method, body) {
  return read(await fetch("/api/v1/" + method, {
    method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body || {}),
  }));
}

// Whether the page is invisible: another tab is in front, or the browser keeps it for "back".
let away = document.hidden;
addEventListener("pagehide", () => { away = true; });
addEventListener("pageshow", () => { away = document.hidden; });
document.addEventListener("visibilitychange", () => { away = document.hidden; });

// Calls `gone` once the page has been invisible for a while, and `back` when it is visible again.
function watchSight(gone, back) {
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    if (!away) back();
    else timer = setTimeout(gone, 5000);
  };
  const leave = () => gone();
  document.addEventListener("visibilitychange", look);
  addEventListener("pageshow", look);
  addEventListener("pagehide", leave);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
    removeEventListener("pageshow", look);
    removeEventListener("pagehide", leave);
  };
}

// Follows the event feed until stopped: onEntry(entry) for each, onMissed() when everything must be
// fetched again: also once at the beginning, since answers of the API may be half a second older
// than the place in the feed from which entries come. onQuiet(), if given, at the server's sign of
// life every 15 s. Reconnects by itself and catches up. An invisible page closes its connection, since
// browsers open only six to a server, whatever the number of tabs.
export function follow(runId, onEntry, onMissed, onQuiet) {
  let stopped = false, cursor = "", connection = new AbortController(), wake = () => {};
  const stopWatching = watchSight(() => connection.abort(), () => wake());
  const stop = () => {
    stopped = true;
    stopWatching();
    connection.abort();
    wake();
  };
  (async () => {
    for (let wait = 500; !stopped; wait = Math.min(wait * 2, 15000)) {
      if (away) await new Promise((done) => { wake = done; });
      if (stopped) return;
      connection = new AbortController();
      const { signal } = connection;
      try {
        const query = new URLSearchParams({ ...(runId ? { run_id: runId } : {}), ...(cursor ? { after: cursor } : {}) });
        const response = await fetch("/api/v1/events?" + query, { headers: headers(), signal });
        if (!response.ok) await read(response);
        const page = response.headers.get("X-Ksearch-Page");
        if (page && page !== OWN) listeners.stale();
        listeners.connection(true);
        wait = 500;
        await readEvents(response.body.getReader(), (type, id, text) => {
          if (id) cursor = id;
          if (type === "stand" && !cursor) {
            cursor = JSON.parse(text).cursor;
            setTimeout(() => !stopped && onMissed(), 600);
          }
          if (type === "entry") onEntry(JSON.parse(text));
          if (type === "missed") onMissed();
          if (type === "quiet" && onQuiet) onQuiet();
        });
      } catch (error) {
        if (stopped) return;
        if (error.status === 401 || error.status === 403) return stop();
      }
      if (stopped) return;
      listeners.connection(false);
      if (signal.aborted) {
        wait = 250;
        continue;
      }
      // Spreads the reconnects of many pages that lost the same coordinator.
      await new Promise((done) => setTimeout(done, wait * (0.5 + Math.random())));
    }
  })();
  return stop;
}

async function readEvents(reader, onEvent) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = { event: text.startsWith(":") ? "quiet" : "", id: "", data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      text = text.slice(end + 2);
      if (fields.event) onEvent(fields.event, fields.id, fields.data);
    }
  }
}

// Calls `work` soon after the first of several calls, and not again before it is done, so that
// frequent changes cause few fetches.
export function soon(work, delay) {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setTimeout(async () => {
      planned = false;
      await work();
    }, delay * (0.5 + Math.random()));
  };
}
