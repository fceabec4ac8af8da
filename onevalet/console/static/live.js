// What is shown live is fetched again when the server says that it changed. What is open stays open, and nothing moves.

const shown = document.querySelector("[data-live]");
const word = document.querySelector("#live");

if (shown) listen();

function listen() {
  const source = new EventSource(`/console/live?page=${encodeURIComponent(location.pathname)}&version=${shown.dataset.live}`);
  source.addEventListener("open", () => say("live"));
  source.addEventListener("error", () => say("reconnecting"));
  source.addEventListener("changed", refresh);
}

function say(state) {
  word.dataset.state = state;
  word.hidden = state === "live";
  word.textContent = state === "live" ? "" : "Reconnecting";
}

async function refresh() {
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const open = new Set([...document.querySelectorAll("details[open]")].map((one) => one.id));
  const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 40;
  for (const part of fresh.querySelectorAll("[data-live], .figures")) {
    const selector = part.dataset.live ? "[data-live]" : ".figures";
    const old = document.querySelector(selector);
    if (old) old.replaceWith(part);
  }
  for (const one of document.querySelectorAll("details")) one.open = open.has(one.id);
  if (atEnd && document.querySelector(".thread")) scrollTo(0, document.body.scrollHeight);
}

if (document.querySelector(".thread")) scrollTo(0, document.body.scrollHeight);
