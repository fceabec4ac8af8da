// The page as a whole: who you are, what is drawn, and when.

import { ask, follow } from "/page/api.js";
import { carriesFiles } from "/page/attachment.js";
import { announce, h, plural, showDrawer } from "/page/dom.js";
import { breakingDrawer } from "/page/breaking.js";
import { clockPanel } from "/page/clock.js";
import { faultsDrawer } from "/page/faults.js";
import { guide } from "/page/guide.js";
import { icon } from "/page/icons.js";
import { markdown } from "/page/markdown.js";
import { modelSheet } from "/page/model.js";
import { peoplePicker } from "/page/people.js";
import { phonePane } from "/page/panes/phone.js";
import { slackPane } from "/page/panes/slack.js";
import { replayPanel } from "/page/replay.js";
import { scenariosDrawer } from "/page/scenarios.js";
import { telegramPane } from "/page/panes/telegram.js";
import { secondPerson } from "/page/second.js";
import { wirePanel } from "/page/wire.js";

const SOON_MS = 1000;
const CLOCK_MS = 20_000;
const PANES = { phone: "Phone", slack: "Slack", telegram: "Telegram", second: "Beside" };
const find = (id) => document.getElementById(id);

const strangers = new Map();
const app = { introduce, person: null, second: null, people: [], pairs: false, choose, toast, renotice, showTab, redraw: draw, showFaultCount, moved: refresh, now: () => Date.now() / 1000, botName: "valet" };
const panes = { twilio: phonePane(find("phone"), app), slack: slackPane(find("slack"), app), telegram: telegramPane(find("telegram"), app) };
const wire = wirePanel(find("wire"), app);
const second = secondPerson(find("second"), app, beside);
const picker = peoplePicker(find("people"), find("add-person"), app, { become, beside });
const faults = faultsDrawer(find("faults"), app);
let clock = null;
let guided = null;
let chosen = null;
let state = null;
let running = null;
let wanted = false;
let soon = 0;

// One refresh at a time; a change during one asks for another.
function refresh() {
  wanted = true;
  running ??= (async () => {
    try {
      while (wanted) {
        wanted = false;
        await load();
      }
    } catch (error) {
      live("lost");
      clearTimeout(soon);
      soon = setTimeout(refresh, 2 * SOON_MS);
      if (!(error instanceof TypeError)) throw error;
    } finally {
      running = null;
    }
  })();
  return running;
}

async function load() {
  state = await ask("/sim/state");
  if (Object.keys(state.twilio.people).length !== app.people.length) await meet();
  await lookForStrangers();
  draw();
  find("main").ariaBusy = null;
  await Promise.all([wire.refresh(), faults.refresh(), clock?.refresh()]);
}

// Whom of those who are shown the assistant does not know; whoever was let in stays so.
async function lookForStrangers() {
  if (!app.pairs) return;
  for (const { key } of [app.person, app.second].filter((one) => one && strangers.get(one.key) !== false)) {
    strangers.set(key, !(await ask(`/bench/person?${new URLSearchParams({ key })}`)).known);
  }
}

function introduce(key) {
  if (!strangers.get(key)) return "";
  const name = app.people.find((one) => one.key === key).name.split(" ")[0];
  return `${name} is a stranger to the assistant. Write something: a code comes back, and a button under it lets ${name} in.`;
}

function draw() {
  if (!state) return;
  for (const [name, pane] of Object.entries(panes)) {
    pane.draw(state[name]);
    pane.mark(chosen);
  }
  second.draw(state);
  if (app.second) find("tabs").querySelector("[data-tab=second]").textContent = app.second.name.split(" ")[0];
  second.mark(chosen);
  guided?.draw(state);
  wire.follow(chosen ?? latest());
  clearTimeout(soon);
  if (fades()) soon = setTimeout(refresh, SOON_MS);
}

// What those who are shown wrote last, in whatever chat.
function latest() {
  return [app.person, app.second].filter(Boolean).flatMap(saidBy).reduce((best, one) => (best && best.at > one.at ? best : one), null);
}

function saidBy({ key }) {
  return [
    ...state.twilio.people[key].bubbles.filter((one) => one.direction === "in").map((one) => ({ provider: "twilio", id: one.id, at: one.at })),
    ...[...state.slack.people[key].bubbles, ...state.slack.general].filter((one) => one.from === key).map((one) => ({ provider: "slack", id: one.ts, at: Number(one.ts) })),
    ...[...state.telegram.people[key].messages, ...(state.telegram.group?.messages ?? [])].filter((one) => one.from === key).map((one) => ({ provider: "telegram", id: one.id, at: one.date })),
  ];
}

// Typing, drafts and status lines go by themselves, without any event.
function fades() {
  return [app.person, app.second].some((one) => one && isFading(one));
}

function isFading({ key }) {
  const slack = state.slack.people[key];
  const chat = state.telegram.people[key];
  const group = state.telegram.group;
  return chat.action || chat.draft || group?.action || group?.draft || Object.keys(slack.statuses).length > 0;
}

function choose(next) {
  chosen = next;
  for (const pane of Object.values(panes)) pane.mark(chosen);
  second.mark(chosen);
  wire.choose(next).catch(() => live("lost"));
}

function toast(text) {
  const line = h("p", { class: "toast" }, text);
  document.body.append(line);
  announce(text);
  setTimeout(() => line.remove(), 5000);
}

// A menu closes when something else is used.
function closeMenus(event) {
  const isKey = event.type === "keydown";
  if (isKey && event.key !== "Escape") return;
  if (isKey || !event.target.closest("#bar-end, #open-more")) showMore(false);
  for (const menu of document.querySelectorAll(".menu[open], .commands[open]")) {
    if (isKey && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (isKey || !menu.contains(event.target)) menu.open = false;
  }
  // The browser itself does so only for those that hold up all else.
  if (isKey) showDrawer();
}

// On a narrow screen the buttons of the bar are behind one.
function showMore(is) {
  find("bar-end").classList.toggle("is-open", is);
  find("open-more").setAttribute("aria-expanded", String(is));
}

function live(is) {
  find("live").dataset.state = is;
  find("live").textContent = { live: "Live", lost: "Reconnecting…", connecting: "Connecting" }[is];
}

function showFaultCount(count) {
  find("fault-count").hidden = !count;
  find("fault-count").textContent = count;
  find("open-faults").setAttribute("aria-label", count ? `Faults: ${plural(count, "rule")} in force` : "Faults");
}

// Learn who there is; those who are shown stay.
async function meet() {
  const known = await ask("/sim/people");
  app.people = known.map((one) => app.people.find((before) => before.key === one.key) ?? one);
  find("people").classList.toggle("is-many", app.people.length > 2);
  if (app.person) picker.draw();
}

function become(person) {
  if (app.second === person) app.second = app.person;
  app.person = person;
  arrange();
}

// Show somebody beside who is in front, or nobody.
function beside(person) {
  if (person === app.person) return;
  app.second = person;
  if (!person && find("main").dataset.tab === "second") showTab("phone");
  arrange();
}

function arrange() {
  history.replaceState(null, "", `#${[app.person, app.second].filter(Boolean).map((one) => one.key).join("+")}`);
  choose(null);
  wire.person();
  picker.draw();
  draw();
  refresh();
}

function showTab(name) {
  if (find("main").dataset.tab === name) return;
  find("main").dataset.tab = name;
  choose(null);
  for (const tab of find("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
  draw();
  dispatchEvent(new Event("resize")); // what was hidden at the last one measures itself
}

function drawTabs() {
  find("tabs").append(...Object.entries(PANES).map(([name, text]) => h("button", { type: "button", role: "tab", "data-tab": name, "aria-controls": name, "aria-selected": String(name === "phone"), onclick: () => showTab(name) }, text)));
}

async function begin() {
  const [config] = await Promise.all([ask("/sim/config"), meet()]);
  const [first, other] = location.hash.slice(1).split("+").map((key) => app.people.find((one) => one.key === key));
  app.person = first ?? app.people[0];
  app.second = other && other !== app.person ? other : null;
  app.pairs = config.bench;
  notice(config);
  find("open-console").hidden = !config.console;
  if (config.console) find("open-console").href = config.console;
  faults.endpoints(config.endpoints);
  app.gateway = config.gateway;
  wire.offerPath(config.bench);
  picker.draw();
  drawTabs();
  if (config.bench) {
    find("clock").hidden = false;
    clock = clockPanel(find("clock"), app);
    if (config.replays) replayPanel(find("replay"));
    else beginHere();
    app.now = clock.now;
    const breaking = breakingDrawer(find("breaking"), app);
    find("open-breaking").hidden = false;
    find("open-breaking").addEventListener("click", breaking.open);
  }
  find("close-help").append(icon("cross"));
  find("open-more").append(icon("more"));
  find("open-more").addEventListener("click", () => showMore(!find("bar-end").classList.contains("is-open")));
  find("bar-end").addEventListener("click", () => showMore(false));
  find("open-faults").addEventListener("click", () => find("faults").showModal());
  find("open-help").addEventListener("click", () => find("help").showModal());
  for (const name of ["pointerdown", "focusin", "keydown"]) document.addEventListener(name, closeMenus);
  // A file that misses every chat would be opened instead of the page.
  for (const name of ["dragenter", "dragover", "drop"]) document.addEventListener(name, (event) => carriesFiles(event) && event.preventDefault());
  find("commands").addEventListener("toggle", showCommands, { once: true });
  setInterval(draw, CLOCK_MS);
  find("reset").addEventListener("click", reset);
  new ResizeObserver(([bar]) => document.body.style.setProperty("--bar", `${Math.ceil(bar.target.getBoundingClientRect().bottom)}px`)).observe(document.querySelector(".bar"));
  follow(refresh, live);
  await refresh();
}

// What is to be known of the assistant behind the page: who answers, say.
function notice(config) {
  find("notice").hidden = !config.notice;
  find("notice").textContent = config.notice;
}

async function renotice() {
  notice(await ask("/sim/config"));
}

// What a replay, which plays on an installation of its own, does without.
function beginHere() {
  guided = guide(find("guide"), find("open-guide"), find("guide-again"), app);
  // There from the first, so that nothing moves once it is known who answers.
  find("open-model").hidden = false;
  modelSheet(find("model"), find("open-model"), app).refresh().catch((error) => toast(error.message));
  const scenarios = scenariosDrawer(find("scenarios"), find("record"), app);
  find("record").hidden = find("open-scenarios").hidden = false;
  find("open-scenarios").addEventListener("click", scenarios.open);
}

async function showCommands() {
  const answer = await fetch("/page/commands.md");
  find("commands").lastElementChild.replaceChildren(answer.ok ? markdown(await answer.text()) : "See docs/commands.md.");
}

async function reset() {
  if (!confirm("Forget every message, setting and fault of the simulator? The assistant keeps its own memory.")) return;
  try {
    await ask("/sim/reset", { method: "POST", body: {} });
    choose(null);
  } catch (error) {
    toast(error.message);
  }
}

begin().catch((error) => {
  find("notice").hidden = false;
  find("notice").classList.add("is-problem");
  find("notice").textContent = `The page could not start: ${error.message}`;
});
