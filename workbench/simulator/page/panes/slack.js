// The Slack pane: the direct conversation with the app, its threads, modals, and Home tab, and the channel.

import { act, ask, base64, typeOf } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { withPairing } from "/page/pairing.js";
import { channelTab } from "/page/slack/channel.js";
import { told } from "/page/slack/message.js";
import { slackRoom } from "/page/slack/room.js";
import { homeTab, modalLayer } from "/page/slack/views.js";

const PROMPTS = ["What can you do?", "Find flights from Berlin to Rome on Friday"];
const HINT = "A direct conversation with the app. Write a message, open a thread with Reply, or type /valet.";

export function slackPane(root, app) {
  let editing = "";
  let latest = null;
  let person = "";

  const name = h("h2");
  const tabs = { messages: "Messages", home: "Home", channel: "" };
  for (const [key, text] of Object.entries(tabs)) tabs[key] = h("button", { type: "button", role: "tab", "aria-selected": String(key === "messages"), onclick: () => show(key) }, text);
  const commands = h("div", { class: "words" });
  const acts = { channel: () => latest?.people[app.person.key].channel, edit, remove, react };
  const moved = () => latest && draw(latest);
  const room = slackRoom(app, {
    label: "Slack",
    title: "Messages",
    name: "slack",
    placeholder: { label: "Message to the app", text: "Message valet" },
    send,
    say,
    acts,
    list: { introduce: app.introduce, hint: HINT, prompts: PROMPTS, say: (text) => say(text, null, "").catch((error) => app.toast(error.message)) },
    after: [commands],
    moved,
  });
  const channel = channelTab(app, { remove, moved });
  const home = homeTab(app);
  const modals = modalLayer(app);
  const connection = h("small", { class: "sockets" });
  const socketMode = h("input", { type: "checkbox", name: "socket-mode", onchange: switchSockets });
  const menu = h("details", { class: "menu", hidden: true }, h("summary", { "aria-label": "Slack settings" }, icon("more")), h("div", {}, h("label", { class: "switch" }, socketMode, " Socket Mode"), h("p", { class: "soft" }, "Slack reaches the app over a socket instead of its webhook. Switching starts the assistant again.")));
  root.append(
    h("header", { class: "slack-head" }, h("div", { class: "slack-title" }, h("span", { class: "face bot", "aria-hidden": "true" }, "V"), name, h("small", { class: "app-badge" }, "APP"), connection, menu), h("div", { role: "tablist", "aria-label": "Slack app" }, Object.values(tabs))),
    room.root,
    home.root,
    channel.root,
    modals.root,
  );
  tabs.channel.hidden = true;

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

  async function show(key) {
    for (const [name, button] of Object.entries(tabs)) button.setAttribute("aria-selected", String(name === key));
    room.root.hidden = key !== "messages";
    home.root.hidden = key !== "home";
    channel.root.hidden = key !== "channel";
    if (key === "channel") return;
    try {
      await act("slack", "open_home", app.person.key, { tab: key });
    } catch (error) {
      app.toast(error.message);
    }
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
    room.edit(item);
  }

  async function react(item, name, taken) {
    try {
      await act("slack", "react", app.person.key, { ts: item.ts, name, taken_back: taken });
    } catch (error) {
      app.toast(error.message);
    }
  }

  async function remove(item, place) {
    try {
      await act("slack", "delete", app.person.key, { ts: item.ts, channel: place });
    } catch (error) {
      app.toast(error.message);
    }
  }

  function draw(state) {
    latest = state;
    if (person !== app.person.key) {
      person = app.person.key;
      editing = "";
      room.close();
      channel.close();
    }
    app.botName = state.bot.name;
    menu.hidden = !app.pairs;
    if (!socketMode.disabled) socketMode.checked = state.socket_mode;
    name.textContent = state.bot.name;
    connection.textContent = state.connections ? `${state.connections} socket${state.connections > 1 ? "s" : ""}` : "";
    const own = state.people[app.person.key];
    const items = withPairing(asItems(own, state.bot.name, app.person), (item) => `${item.text} ${item.fallback}`);
    room.draw(items, own.titles);
    tabs.channel.hidden = !state.channel.begun;
    tabs.channel.textContent = `#${state.channel.name}`;
    channel.draw(state);
    if (tabs.channel.hidden && !channel.root.hidden) show("messages"); // the simulator began anew
    room.prompts.replaceChildren(...own.prompts.map((prompt) => h("button", { type: "button", onclick: () => say(prompt.message, null, "") }, prompt.title)));
    if (commands.dataset.of !== state.switches.commands.join()) {
      commands.dataset.of = state.switches.commands.join();
      commands.replaceChildren(...state.switches.commands.map((word) => h("button", { type: "button", onclick: () => room.box.put(`${word} `) }, word)));
    }
    home.draw(own.home);
    modals.draw(own.modals);
  }

  return {
    draw,
    mark: (chosen) => {
      room.mark(chosen);
      channel.mark(chosen);
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
