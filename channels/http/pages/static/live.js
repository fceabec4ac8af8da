// What is shown live is fetched again when the server says that it changed. What is open stays open, what is being typed
// stays, and nothing moves.

const REACHED = "a, button, input, select, textarea, summary";

const shown = document.querySelector("[data-live]");
const word = document.querySelector("#live");
// What the database dated goes by the machine's clock; what people plan and decide goes by theirs, which may be moved.
const skews = { machine: Date.parse(document.body.dataset.machineNow) - Date.now(), clock: Date.parse(document.body.dataset.now) - Date.now() };
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];
let asked = 0;

// What was refused answers a form, at whose address is no page; and nothing changes under whoever corrects it.
if (shown && !("refused" in document.body.dataset)) listen();
// The menu's further entries close when something else is chosen, as any menu's do.
const further = document.querySelector("#further");
addEventListener("click", (event) => further?.contains(event.target) || further?.removeAttribute("open"));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !further?.open) return;
  further.open = false;
  further.firstElementChild.focus();
});
setInterval(tick, 5000);

function listen() {
  const source = new EventSource(`/console/live?page=${encodeURIComponent(location.pathname + location.search)}&version=${shown.dataset.live}`);
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
  const mine = ++asked;
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== asked) return;
  const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 40;
  for (const part of fresh.querySelectorAll("[data-live]")) {
    const old = document.querySelector(part.id ? `#${part.id}` : "[data-live]");
    if (old && !isTouched(old)) renew(old, part);
  }
  for (const count of fresh.querySelectorAll("nav .count")) document.querySelector(`#${count.id}`)?.replaceWith(count);
  if (atEnd && document.querySelector(".thread.goes-on")) scrollTo(0, document.body.scrollHeight);
}

function renew(old, part) {
  const open = new Set([...old.querySelectorAll("details[open][id]")].map((one) => one.id));
  const [first] = open;
  const before = first && document.getElementById(first).getBoundingClientRect().top;
  const focused = old.contains(document.activeElement) ? place(document.activeElement) : "";
  old.replaceWith(part);
  for (const one of part.querySelectorAll("details[id]")) one.open = open.has(one.id);
  const again = focused && [...part.querySelectorAll(REACHED)].find((one) => place(one) === focused);
  if (again) again.focus({ preventScroll: true });
  // What is read stays where it is, also when something longer came above it.
  const still = first && document.getElementById(first);
  if (still) scrollBy(0, still.getBoundingClientRect().top - before);
}

// Whether somebody has begun to fill in a form.
function isTouched(part) {
  const texts = [...part.querySelectorAll("input:not([type=hidden]), textarea")];
  const choices = [...part.querySelectorAll("option")];
  return texts.some((one) => one.value !== one.defaultValue) || choices.some((one) => one.selected && !one.defaultSelected && one.index);
}

// Where in the page the keyboard is, said so that the same place is found in the page's next version.
function place(element) {
  const form = element.closest("form");
  const sent = [...(form?.elements ?? [])].filter((one) => one.type === "hidden" && !["proof", "key"].includes(one.name));
  const values = [element.getAttribute("href"), element.name, element.value, element.closest("details")?.id, form?.action];
  return [element.localName, ...values, ...sent.map((one) => one.value)].join(" ");
}

// Ages go on by themselves, in the words that the server has for them.
function tick() {
  for (const one of document.querySelectorAll("time[data-ago], time[data-until]")) {
    const isOfClock = "until" in one.dataset || one.dataset.ago === "clock";
    const passed = (Date.now() + (isOfClock ? skews.clock : skews.machine) - Date.parse(one.dateTime)) / 1000;
    one.textContent = span(Math.max("until" in one.dataset ? -passed : passed, 0));
  }
}

function span(seconds) {
  const unit = UNITS.find(([size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[0])} ${unit[1]}` : `${Math.floor(seconds)} s`;
}

if (document.querySelector(".thread.goes-on")) scrollTo(0, document.body.scrollHeight);
