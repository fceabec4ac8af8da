// The Slack pane: the direct conversation with the app, its threads, modals, and Home tab.

import { act, ask, base64, typeOf } from "/page/api.js";
import { composer } from "/page/composer.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { withPairing } from "/page/pairing.js";
import { buildMessage, told } from "/page/slack/message.js";
import { homeTab, modalLayer } from "/page/slack/views.js";
import { messageList } from "/page/thread.js";

const GROUPED_SECONDS = 300;
// What the simulator takes in one request, less than Slack's gigabyte.
const LARGEST = 40 * 1024 * 1024;
const PROMPTS = ["What can you do?", "Find flights from Berlin to Rome on Friday"];
const HINT = "A direct conversation with the app. Write a message, open a thread with Reply, or type /valet.";

export function slackPane(root, app) {
  let thread = "";
  let editing = "";
  let latest = null;
  let person = "";

  const name = h("h2");
  const tabs = ["Messages", "Home"].map((tab) => h("button", { type: "button", role: "tab", "aria-selected": String(tab === "Messages"), onclick: () => show(tab) }, tab));
  const list = messageList({ label: "Slack", provider: "slack", choose: app.choose, introduce: app.introduce, hint: HINT, prompts: PROMPTS, say: (text) => say(text, null, "").catch((error) => app.toast(error.message)) });
  const replies = messageList({ label: "Slack thread", provider: "slack", choose: app.choose });
  const prompts = h("div", { class: "prompts" });
  const commands = h("div", { class: "words" });
  const messages = h("div", { class: "tab-body", role: "tabpanel", "aria-label": "Messages" });
  const threadPane = h("div", { class: "thread", role: "region", "aria-label": "Thread", hidden: true });
  const files = { limit: LARGEST, carrier: "the simulator takes" };
  const box = composer({ name: "slack", label: "Message to the app", placeholder: "Message valet", files: { ...files, zone: messages }, send, after: [commands] });
  const threadBox = composer({ name: "slack-thread", label: "Reply in the thread", placeholder: "Reply…", files: { ...files, zone: threadPane }, send: (text, file) => say(text, file, thread) });
  const title = h("small");
  const back = h("button", { type: "button", "aria-label": "Close the thread", onclick: () => openThread("") }, icon("back"));
  threadPane.append(h("header", {}, back, h("h3", {}, "Thread"), title), replies.root, threadBox.root);
  messages.append(list.root, prompts, box.root, threadPane);
  const home = homeTab(app);
  const modals = modalLayer(app);
  const connection = h("small", { class: "sockets" });
  const socketMode = h("input", { type: "checkbox", name: "socket-mode", onchange: switchSockets });
  const menu = h("details", { class: "menu", hidden: true }, h("summary", { "aria-label": "Slack settings" }, icon("more")), h("div", {}, h("label", { class: "switch" }, socketMode, " Socket Mode"), h("p", { class: "soft" }, "Slack reaches the app over a socket instead of its webhook. Switching starts the assistant again.")));
  root.append(
    h("header", { class: "slack-head" }, h("div", { class: "slack-title" }, h("span", { class: "face bot", "aria-hidden": "true" }, "V"), name, h("small", { class: "app-badge" }, "APP"), connection, menu), h("div", { role: "tablist", "aria-label": "Slack app" }, tabs)),
    messages,
    home.root,
    modals.root,
  );
  threadPane.addEventListener("keydown", (event) => {
    if (event.key === "Escape") openThread("");
  });

  const common = { channel: () => latest?.people[app.person.key].channel, openThread, edit, remove, react };
  const pane = { ...common, inThread: false };
  const inThread = { ...common, inThread: true };

  async function switchSockets() {
    const on = socketMode.checked;
    socketMode.disabled = true;
    try {
      await ask("/bench/socket-mode", { method: "POST", body: { on } });
      app.toast(on ? "Slack reaches the app over a socket now." : "Slack reaches the app by its webhook now.");
    } catch (error) {
      socketMode.checked = !on;
      app.toast(error.message);
    } finally {
      socketMode.disabled = false;
      menu.open = false;
    }
  }

  async function show(tab) {
    for (const button of tabs) button.setAttribute("aria-selected", String(button.textContent === tab));
    messages.hidden = tab !== "Messages";
    home.root.hidden = tab !== "Home";
    try {
      await act("slack", "open_home", app.person.key, { tab: tab.toLowerCase() });
    } catch (error) {
      app.toast(error.message);
    }
  }

  function openThread(ts) {
    const from = thread;
    thread = ts;
    threadPane.hidden = !ts;
    list.list.inert = box.root.inert = Boolean(ts);
    if (latest) draw(latest);
    if (ts) threadBox.field.focus({ preventScroll: true });
    else if (from) list.list.querySelector(`[data-key="${CSS.escape(from)}"] button`)?.focus({ preventScroll: true });
  }

  async function send(text, file) {
    if (!text.startsWith("/") || file) return say(text, file, "");
    const done = await act("slack", "command", app.person.key, { text });
    if (done.ok === false) throw new Error(`${text.split(" ")[0]} failed: ${told(done.error)}.`);
    return done;
  }

  async function say(text, file, threadTs) {
    if (editing) {
      const ts = editing;
      editing = "";
      return act("slack", "edit", app.person.key, { ts, text });
    }
    // A sound counts as a clip that the app has recorded.
    const clip = file && typeOf(file).startsWith("audio/") ? "audio" : undefined;
    const files = file ? [{ name: file.name, content: `base64:${await base64(file)}`, clip, seconds: file.seconds }] : undefined;
    return act("slack", "say", app.person.key, { text, files, thread_ts: threadTs || undefined });
  }

  function edit(item) {
    editing = item.ts;
    (item.thread_ts ? threadBox : box).put(item.text);
  }

  async function react(item, name, taken) {
    try {
      await act("slack", "react", app.person.key, { ts: item.ts, name, taken_back: taken });
    } catch (error) {
      app.toast(error.message);
    }
  }

  async function remove(item) {
    try {
      await act("slack", "delete", app.person.key, { ts: item.ts });
    } catch (error) {
      app.toast(error.message);
    }
  }

  function draw(state) {
    latest = state;
    if (person !== app.person.key) {
      person = app.person.key;
      editing = "";
      if (thread) openThread("");
    }
    app.botName = state.bot.name;
    menu.hidden = !app.pairs;
    if (!socketMode.disabled) socketMode.checked = state.socket_mode;
    name.textContent = state.bot.name;
    connection.textContent = state.connections ? `${state.connections} socket${state.connections > 1 ? "s" : ""}` : "";
    const own = state.people[app.person.key];
    const items = withPairing(asItems(own, state.bot.name, app.person), (item) => `${item.text} ${item.fallback}`);
    const top = grouped(items.filter((item) => !item.thread_ts));
    list.draw(app.person.key, top, (item) => buildMessage(item, app, pane), spoken(top));
    const below = grouped(items.filter((item) => thread && (item.id === thread || item.thread_ts === thread)));
    replies.draw(`${app.person.key} ${thread}`, below, (item) => buildMessage(item, app, inThread), spoken(below));
    title.textContent = own.titles[thread] ?? "";
    prompts.replaceChildren(...own.prompts.map((prompt) => h("button", { type: "button", onclick: () => say(prompt.message, null, "") }, prompt.title)));
    if (commands.dataset.of !== state.switches.commands.join()) {
      commands.dataset.of = state.switches.commands.join();
      commands.replaceChildren(...state.switches.commands.map((word) => h("button", { type: "button", onclick: () => box.put(`${word} `) }, word)));
    }
    home.draw(own.home);
    modals.draw(own.modals);
  }

  return {
    draw,
    mark: (chosen) => {
      list.mark(chosen);
      replies.mark(chosen);
    },
  };
}

function asItems(own, bot, person) {
  return own.bubbles.map((bubble) => {
    const mine = bubble.from === person.key;
    const lost = own.deliveries.findLast((one) => one.about === bubble.ts && one.attempts.length && (mine || one.kind === "block_actions"));
    return {
      ...bubble,
      mine,
      user: own.user,
      who: mine ? person.name : bubble.from === "bot" ? bot : bubble.from,
      timezone: person.timezone,
      replies: own.bubbles.filter((one) => one.thread_ts === bubble.ts).length,
      status: own.statuses[bubble.ts] ?? "",
      trouble: lost ? trouble(lost) : "",
    };
  });
}

function trouble({ kind, state, attempts }) {
  const last = attempts.at(-1);
  const what = kind === "block_actions" ? "The app did not respond" : "Not taken by the gateway";
  const then = state === "pending" ? ", Slack will try again" : state === "failed" && attempts.length > 1 ? ", Slack gave up" : "";
  return `${what}: ${told(last.outcome)}${attempts.length > 1 ? ` (attempt ${attempts.length})` : ""}${then}`;
}

function grouped(items) {
  return items.map((item, index) => {
    const before = items[index - 1];
    const near = before && before.who === item.who && Number(item.ts) - Number(before.ts) < GROUPED_SECONDS && !item.ephemeral && !before.ephemeral;
    return { ...item, grouped: Boolean(near) };
  });
}

const spoken = (items) => items.filter((item) => !item.mine && !item.streaming).map(({ id, text }) => ({ id, text }));
