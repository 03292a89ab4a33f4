// Asks the coordinator and follows what happens. A token, if one is needed, is asked for and kept
// for this tab only; it travels in a header, never in an address or a cookie.
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

// Follows the event feed until stopped: onEntry(entry) for each, onMissed() when everything must be
// looked at again. Reconnects by itself and catches up.
export function follow(runId, onEntry, onMissed) {
  const abort = new AbortController();
  let cursor = "";
  (async () => {
    for (let wait = 500; !abort.signal.aborted; wait = Math.min(wait * 2, 15000)) {
      try {
        const query = new URLSearchParams({ ...(runId ? { run_id: runId } : {}), ...(cursor ? { after: cursor } : {}) });
        const response = await fetch("/api/v1/events?" + query, { headers: headers(), signal: abort.signal });
        if (!response.ok) await read(response);
        const page = response.headers.get("X-Ksearch-Page");
        if (page && page !== OWN) listeners.stale();
        listeners.connection(true);
        wait = 500;
        await readEvents(response.body.getReader(), (type, id, text) => {
          if (id) cursor = id;
          if (type === "stand" && !cursor) cursor = JSON.parse(text).cursor;
          if (type === "entry") onEntry(JSON.parse(text));
          if (type === "missed") onMissed();
        });
      } catch (error) {
        if (abort.signal.aborted || error.status === 401 || error.status === 403) return;
      }
      if (abort.signal.aborted) return;
      listeners.connection(false);
      // Many pages that lost the same coordinator do not come back in one instant.
      await new Promise((done) => setTimeout(done, wait * (0.5 + Math.random())));
    }
  })();
  return () => abort.abort();
}

async function readEvents(reader, onEvent) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = { event: "", id: "", data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      text = text.slice(end + 2);
      if (fields.event) onEvent(fields.event, fields.id, fields.data);
    }
  }
}

// Calls `work` soon after the first of several calls, and not again before it is done: what changes
// often is looked at now and then.
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
