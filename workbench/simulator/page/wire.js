// The wire: what went over HTTP about the chosen message, or the newest exchanges.

import { ask } from "/page/api.js";
import { h, plural, sync } from "/page/dom.js";
import { buildExchange } from "/page/exchange.js";
import { pathPanel } from "/page/path.js";
import { personPanel } from "/page/person.js";

const SHOWN = 60;
const KEPT_POLLS = 400;
const FEW = 2;
const NAMES = { twilio: "SMS", slack: "Slack", telegram: "Telegram" };

export function wirePanel(root, app) {
  let chosen = null;
  let newest = [];
  let polls = [];
  let isFresh = false;
  let seen = 0;
  let count = 0;
  const what = h("p", { class: "what" });
  const clear = h("button", { type: "button", hidden: true, onclick: () => app.choose(null) }, "Newest");
  const toggle = h("button", { type: "button", class: "wire-toggle", "aria-expanded": "false", onclick: () => open(root.dataset.open !== "true") }, "Show");
  const list = h("ol", { class: "exchanges", "aria-label": "Requests and answers" });
  const empty = h("p", { class: "empty" });
  const title = h("h2", {}, "Wire");
  const tabs = ["Path", "Wire", "Person"].map((name) => h("button", { type: "button", role: "tab", onclick: () => turn(name) }, name));
  const tablist = h("div", { class: "wire-tabs", role: "tablist", "aria-label": "What is shown of a message", hidden: true }, tabs);
  const exchanges = h("div", {}, empty, list);
  const steps = h("div", { class: "path", hidden: true });
  const path = pathPanel(steps);
  const about = h("div", { class: "path person", hidden: true });
  const person = personPanel(about, app);
  root.append(h("header", {}, title, tablist, what, clear, toggle), h("div", { class: "wire-body" }, exchanges, steps, about));
  open(false);

  // With the assistant at hand its own path comes first.
  function offerPath(is) {
    title.hidden = is;
    tablist.hidden = !is;
    if (is) turn("Path");
  }

  function turn(name) {
    for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.textContent === name));
    exchanges.hidden = name !== "Wire";
    steps.hidden = name !== "Path";
    about.hidden = name !== "Person";
    root.dataset.shows = name;
    say();
    path.look();
    person.look();
  }

  function say() {
    what.textContent = sentence(chosen && NAMES[chosen.provider]);
  }

  function sentence(channel) {
    if (!about.hidden) return "Who they are to the assistant";
    if (!steps.hidden) return channel ? `The turn of this ${channel} message` : "The newest turn; choose a message for its own";
    return channel ? `${plural(count, "exchange")} about this ${channel} message` : "The newest exchanges; choose a message for its own";
  }

  function open(is) {
    root.dataset.open = String(is);
    toggle.textContent = is ? "Hide" : "Show";
    toggle.setAttribute("aria-expanded", String(is));
  }

  function choose(next) {
    chosen = next;
    isFresh = Boolean(next);
    if (next) open(true);
    if (next && !about.hidden) turn("Path");
    root.querySelector(".wire-body").scrollTop = 0;
    return refresh();
  }

  async function refresh() {
    const fresh = await ask(`/sim/journal?after=${seen}&last=${KEPT_POLLS}`);
    if (fresh.length) seen = fresh.at(-1).number;
    polls = [...polls, ...fresh.filter(isPoll)].slice(-KEPT_POLLS);
    newest = [...newest, ...fresh.filter((call) => !isIdlePoll(call))].slice(-SHOWN);
    if (!chosen) return show([...newest].reverse());
    const wanted = chosen;
    const about = new URLSearchParams({ provider: wanted.provider, about: wanted.id, last: SHOWN });
    const calls = await ask(`/sim/journal?${about}`);
    if (wanted !== chosen) return undefined;
    const brought = wanted.provider === "telegram" ? polls.filter((call) => carries(call, wanted.id)) : [];
    return show([...calls, ...brought].sort((one, other) => one.number - other.number));
  }

  function show(calls) {
    count = calls.length;
    clear.hidden = !chosen;
    root.classList.toggle("has-chosen", Boolean(chosen));
    say();
    empty.hidden = calls.length > 0;
    empty.textContent = chosen ? "Nothing went over the wire about this message yet." : "Nothing yet. Write something in one of the chats.";
    const drawn = sync(list, calls, (call) => call.number, buildExchange);
    // A choice with little to tell is told at once.
    if (isFresh && calls.length > 0 && calls.length <= FEW) for (const { node } of drawn.values()) node.firstChild.open = true;
    if (chosen && calls.length) isFresh = false;
  }

  return { refresh, choose, offerPath, person: person.look, follow: (about) => (tablist.hidden ? undefined : path.follow(about)) };
}

const isPoll = ({ endpoint }) => endpoint === "telegram.getUpdates";
const updatesOf = ({ answer }) => (Array.isArray(answer?.body?.result) ? answer.body.result : []);

// Long polls that brought nothing say nothing.
function isIdlePoll(call) {
  return isPoll(call) && call.status === 200 && updatesOf(call).length === 0;
}

// One long poll may bring many messages, so the journal does not say which it is about.
function carries(call, id) {
  return updatesOf(call).some((update) => {
    const message = update.message ?? update.edited_message ?? update.callback_query?.message;
    return message && `${message.chat.id}:${message.message_id}` === id;
  });
}
