// A place in Slack where people write: its messages, and beside them the thread that is open.

import { composer } from "/page/composer.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { buildMessage } from "/page/slack/message.js";
import { messageList } from "/page/thread.js";

const GROUPED_SECONDS = 300;
// What the simulator takes in one request, less than Slack's gigabyte.
const LARGEST = 40 * 1024 * 1024;

// `label`, `name` and `placeholder` name it and its fields; `send(text, file)` writes at the top, `say(text, file, ts)`
// anywhere; `acts` do what a message offers, of `channel()`; `list` is more for the list, `after` stands below the field.
export function slackRoom(app, { label, title, name, placeholder, send, say, acts, list: more = {}, after = [], threadAfter = [], moved }) {
  let thread = "";
  const list = messageList({ label, provider: "slack", choose: app.choose, ...more });
  const replies = messageList({ label: `${label} thread`, provider: "slack", choose: app.choose });
  const prompts = h("div", { class: "prompts" });
  const root = h("div", { class: "tab-body", role: "tabpanel", "aria-label": title });
  const threadPane = h("div", { class: "thread", role: "region", "aria-label": "Thread", hidden: true });
  const files = { limit: LARGEST, carrier: "the simulator takes" };
  const box = composer({ name, label: placeholder.label, placeholder: placeholder.text, files: { ...files, zone: root }, send, after });
  const threadBox = composer({ name: `${name}-thread`, label: "Reply in the thread", placeholder: "Reply…", files: { ...files, zone: threadPane }, send: (text, file) => say(text, file, thread), after: threadAfter });
  const threadTitle = h("small");
  const back = h("button", { type: "button", "aria-label": "Close the thread", onclick: () => openThread("") }, icon("back"));
  threadPane.append(h("header", {}, back, h("h3", {}, "Thread"), threadTitle), replies.root, threadBox.root);
  root.append(list.root, prompts, box.root, threadPane);
  threadPane.addEventListener("keydown", (event) => {
    if (event.key === "Escape") openThread("");
  });
  const pane = { ...acts, openThread, inThread: false };

  function openThread(ts) {
    const from = thread;
    thread = ts;
    threadPane.hidden = !ts;
    list.list.inert = box.root.inert = Boolean(ts);
    moved();
    if (ts) threadBox.field.focus({ preventScroll: true });
    else if (from) list.list.querySelector(`[data-key="${CSS.escape(from)}"] button`)?.focus({ preventScroll: true });
  }

  // `titles` are the threads' own.
  function draw(items, titles = {}) {
    const top = grouped(items.filter((item) => !item.thread_ts));
    list.draw(app.person.key, top, (item) => buildMessage(item, app, pane), spoken(top));
    const below = grouped(items.filter((item) => thread && (item.id === thread || item.thread_ts === thread)));
    replies.draw(`${app.person.key} ${thread}`, below, (item) => buildMessage(item, app, { ...pane, inThread: true }), spoken(below));
    threadTitle.textContent = titles[thread] ?? "";
  }

  return {
    root,
    box,
    prompts,
    draw,
    close: () => thread && openThread(""),
    edit: (item) => (item.thread_ts ? threadBox : box).put(item.text),
    mark: (chosen) => {
      list.mark(chosen);
      replies.mark(chosen);
    },
  };
}

function grouped(items) {
  return items.map((item, index) => {
    const before = items[index - 1];
    const near = before && before.who === item.who && Number(item.ts) - Number(before.ts) < GROUPED_SECONDS && !item.ephemeral && !before.ephemeral;
    return { ...item, grouped: Boolean(near) };
  });
}

const spoken = (items) => items.filter((item) => !item.mine && !item.streaming).map(({ id, text }) => ({ id, text }));
