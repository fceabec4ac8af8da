// The Telegram pane: a private chat with the bot, and the group that the person is in with it.

import { act, base64, typeOf } from "/page/api.js";
import { composer } from "/page/composer.js";
import { clock, h } from "/page/dom.js";
import { withEntities } from "/page/entities.js";
import { fileCard, placeCard } from "/page/file.js";
import { icon } from "/page/icons.js";
import { letIn, withPairing } from "/page/pairing.js";
import { groupRoom } from "/page/panes/group.js";
import { placeForm } from "/page/place.js";
import { shownReactions, thumbs } from "/page/reactions.js";
import { messageList, tool, tools } from "/page/thread.js";

// What the app sends as a photo, made a JPEG; it sends other pictures as they are.
const PHOTOS = /^image\/(jpeg|png|webp)$/;
// A sticker is told by its emoji, and drawn here: not every machine has its glyph. Each has a name and a sign.
const STICKERS = { "👍": ["Thumbs up", "thumb"], "❤️": ["Heart", "heart"], "😀": ["Smile", "smile"], "😢": ["Sad", "sad"], "⭐": ["Star", "star"], "✅": ["Done", "tick"] };
const ACTIONS = { typing: "typing", upload_photo: "sending a photo", upload_document: "sending a file", record_voice: "recording", upload_voice: "sending a voice message" };

// What the simulator takes in one request; a bot of the real one may fetch 20 MB.
const LARGEST = 40 * 1024 * 1024;

export function telegramPane(root, app) {
  const answered = new Map();
  let context = null;
  let latest = null;
  let person = "";
  let asked = "";

  const name = h("h2");
  const doing = h("p", { class: "doing" });
  const face = h("span", { class: "face", "aria-hidden": "true" }, "V");
  const block = h("button", { type: "button", onclick: () => run(latest.people[app.person.key].blocked ? "unblock" : "block") });
  const room = groupRoom(app, run, () => draw(latest));
  const again = h("button", { type: "button", onclick: () => run("redeliver") }, "Deliver the last update again");
  const menu = h("details", { class: "menu" }, h("summary", { "aria-label": "Chat settings" }, icon("more")), h("div", {}, block, again, room.settings));
  const list = messageList({ label: "Telegram", provider: "telegram", choose: app.choose });
  const failures = h("p", { class: "strip is-bad", hidden: true });
  const commands = h("details", { class: "commands" }, h("summary", {}, "Menu"), h("ul"));
  const replying = h("p", { class: "replying", hidden: true });
  const place = placeForm((values) => act("telegram", "location", app.person.key, values), (values) => act("telegram", "move_location", app.person.key, values));
  const box = composer({ name: "telegram", label: "Telegram message", placeholder: "Message", files: { limit: LARGEST, carrier: "the simulator takes", zone: root }, send, after: [h("div", { class: "under" }, commands, room.mention, h("div", { class: "extras" }, stickers((emoji) => run("sticker", { emoji })), place))] });
  const start = h("button", { type: "button", class: "big", hidden: true, onclick: () => run("start") }, "START");
  const about = h("p", { class: "about" });
  const welcome = h("div", { class: "welcome", hidden: true }, h("p", { class: "about-title" }, "What can this bot do?"), about);
  const unblock = h("button", { type: "button", class: "big", hidden: true, onclick: () => run("unblock") }, "UNBLOCK");
  box.root.hidden = true; // until it is known whether the talk has begun
  const alert = h("div", { class: "alert", role: "alertdialog", "aria-label": "The bot says", hidden: true });
  root.append(
    h("header", { class: "tg-head" }, face, h("div", {}, name, doing), menu),
    room.tabs,
    h("div", { class: "wall" }, list.root, welcome),
    failures, replying, box.root, start, unblock, alert,
  );

  async function run(action, values = {}) {
    menu.open = false;
    try {
      return await act("telegram", action, app.person.key, values);
    } catch (error) {
      app.toast(error.message);
      return null;
    }
  }

  async function send(text, file) {
    const now = context;
    if (room.open && file) throw new Error("Only words are sent to the simulated group.");
    if (now?.kind === "edit") await act("telegram", room.open ? "group_edit" : "edit", app.person.key, { message_id: now.id, text });
    else if (room.open) await room.say(text, now?.id);
    else if (file) await sendFile(text, file);
    else await act("telegram", "say", app.person.key, { text, reply_to: now?.id });
    setContext(null);
  }

  async function sendFile(caption, file) {
    const type = typeOf(file);
    const values = { data: await base64(file), name: file.name, content_type: type, caption, duration: file.seconds };
    await act("telegram", PHOTOS.test(type) ? "photo" : type.startsWith("audio/") ? "voice" : "document", app.person.key, values);
  }

  function setContext(next) {
    context = next;
    replying.hidden = !next;
    box.field.placeholder = next?.placeholder ?? "Message";
    if (!next) return;
    const cancel = h("button", { type: "button", "aria-label": "Cancel", onclick: () => { if (context?.kind === "edit") box.put(""); setContext(null); } }, icon("cross"));
    replying.replaceChildren(h("strong", {}, next.kind === "edit" ? "Edit" : "Reply"), h("span", {}, next.text), cancel);
    if (next.kind === "edit") box.put(next.text);
    else if (!next.placeholder || root.contains(document.activeElement)) box.field.focus();
  }

  // A message that asks for a reply begins one, once, as long as nothing was said after it.
  function beginReply(messages) {
    const last = messages.at(-1);
    if (!last?.force_reply || last.id === asked || context?.kind === "edit") return;
    asked = last.id;
    setContext({ kind: "reply", id: last.message_id, text: last.text.slice(0, 80), placeholder: last.force_reply });
  }

  function draw(state) {
    latest = state;
    const own = state.people[app.person.key];
    const chat = room.of(state) ?? own;
    const at = `${app.person.key} ${room.open}`;
    if (person !== at) {
      person = at;
      answered.clear();
      setContext(null);
    }
    const deaf = !chat.started || chat.blocked || chat.deactivated;
    name.textContent = room.open ? chat.title : state.bot.first_name;
    face.textContent = name.textContent[0];
    root.classList.toggle("in-group", room.open);
    doing.textContent = chat.action ? `${ACTIONS[chat.action] ?? chat.action}…` : room.open ? room.who : `@${state.bot.username}`;
    doing.classList.toggle("is-busy", Boolean(chat.action));
    block.textContent = chat.blocked ? "Unblock the bot" : "Block the bot";
    block.hidden = room.open;
    block.disabled = again.disabled = !chat.started;
    box.root.hidden = deaf;
    start.hidden = chat.started;
    unblock.hidden = !chat.blocked;
    welcome.hidden = chat.started;
    about.textContent = state.bot.description || "The bot has not described itself.";
    drawCommands(room.open ? [] : chat.commands);
    drawFailures(chat);
    const texts = new Map(chat.messages.map((one) => [one.message_id, one]));
    const items = withPairing(chat.messages.map((one) => asItem(one, texts, app, room.open)));
    if (chat.draft) items.push({ id: "draft", draft: true, ...chat.draft, keyboard: [], presses: [] });
    const spoken = items.filter((one) => !one.mine && !one.draft);
    list.draw(at, items, (item) => buildMessage(item, { app, run, setContext, place }), spoken);
    drawAnswers(chat.messages);
    beginReply(chat.messages);
  }

  function drawCommands(known) {
    commands.hidden = !known.length;
    const json = JSON.stringify(known);
    if (commands.dataset.of === json) return;
    commands.dataset.of = json;
    const pick = (word) => {
      commands.open = false;
      run("say", { text: `/${word}` });
    };
    commands.lastChild.replaceChildren(...known.map((one) => h("li", {}, h("button", { type: "button", onclick: () => pick(one.command) }, h("b", {}, `/${one.command}`), ` ${one.description}`))));
  }

  function drawFailures({ failed_deliveries: failed, messages }) {
    const last = failed.at(-1);
    const matters = last && messages.some((one) => one.status === "waiting" || one.status === "dropped");
    failures.hidden = !matters;
    if (matters) failures.textContent = `Delivery of update ${last.update_id} failed (attempt ${last.attempt || 1}): ${last.error}${last.dropped ? "; dropped" : "; Telegram will try again"}`;
  }

  // What the bot says to a press: a passing line, or an alert to be closed. Old answers are not said again.
  function drawAnswers(messages) {
    const first = !answered.has("drawn");
    answered.set("drawn", true);
    for (const message of messages) {
      const done = message.presses.filter((press) => press.answered && press.person === app.person.key);
      const before = answered.get(message.id) ?? 0;
      answered.set(message.id, done.length);
      const press = done.length > before && !first ? done.at(-1) : null;
      if (!press?.text) continue;
      if (press.alert) showAlert(press.text);
      else app.toast(press.text);
    }
  }

  function showAlert(text) {
    const close = h("button", { type: "button", onclick: () => { alert.hidden = true; } }, "OK");
    alert.replaceChildren(h("p", {}, text), close);
    alert.hidden = false;
    close.focus();
  }

  return { draw, mark: list.mark };
}

function stickers(send) {
  const root = h("details", { class: "commands where" }, h("summary", { "aria-label": "Send a sticker", title: "Send a sticker" }, icon("sticker")));
  const pick = (emoji) => {
    root.open = false;
    send(emoji);
  };
  root.append(h("div", { class: "stickers" }, Object.entries(STICKERS).map(([emoji, [name, sign]]) => h("button", { type: "button", "aria-label": name, title: name, onclick: () => pick(emoji) }, icon(sign)))));
  return root;
}

function asItem(message, texts, app, inGroup) {
  const replied = texts.get(message.reply_to);
  const nameOf = ({ from }) => app.people.find((one) => one.key === from)?.name ?? "Valet";
  const mine = message.from === app.person.key;
  return {
    ...message,
    mine,
    inGroup,
    by: inGroup && !mine ? nameOf(message) : "",
    timezone: app.person.timezone,
    quoted: replied ? { who: nameOf(replied), text: replied.text.slice(0, 80) } : null,
  };
}

function buildMessage(item, { app, run, setContext, place }) {
  if (item.draft) return h("li", { class: "theirs is-draft" }, h("article", { class: "bubble" }, h("p", { class: "said" }, withEntities(item.text, item.entities)), h("p", { class: "meta" }, "being written…")));
  const content = inBubble(item);
  if (!content && Object.keys(item.service).length) return h("li", { class: "service" }, Object.keys(item.service)[0].replaceAll("_", " "));
  const reply = tool("Reply", () => setContext({ kind: "reply", id: item.message_id, text: item.text.slice(0, 80) }));
  const own = item.reactions.filter((one) => one.from === app.person.key).map((one) => one.emoji);
  const react = (emoji, taken) => run("react", { message_id: item.message_id, emoji: taken ? "" : emoji });
  const edit = item.mine && !content ? tool("Edit", () => setContext({ kind: "edit", id: item.message_id, text: item.text })) : null;
  const live = item.mine && item.service.location?.live_period ? [tool("Move", () => place.moves(item)), tool("Stop sharing", () => run("stop_location", { message_id: item.message_id }))] : [];
  return h(
    "li",
    { class: item.mine ? "mine" : "theirs" },
    h(
      "article",
      { class: "bubble", "data-about": item.id },
      item.by ? h("p", { class: "by" }, item.by) : null,
      item.quoted ? h("p", { class: "quoted" }, h("strong", {}, item.quoted.who), h("span", {}, item.quoted.text)) : null,
      content,
      item.text ? h("div", { class: "said" }, withEntities(item.text, item.entities)) : null,
      shownReactions(item.reactions.map((one) => one.emoji)),
      h("p", { class: "meta" }, item.edited ? "edited " : "", h("time", {}, clock(item.date, item.timezone)), " ", ticks(item)),
    ),
    item.keyboard.length ? h("div", { class: "keyboard" }, item.keyboard.map((row) => h("div", {}, row.map((button) => key(button, item, run))))) : null,
    letIn(item, app) ?? "",
    tools(app.choose, "telegram", item.id, reply, edit, item.mine || item.inGroup ? null : thumbs(own, react), ...live),
  );
}

function key(button, item, run) {
  if (button.url) return h("a", { href: /^https?:/.test(button.url) ? button.url : "#", target: "_blank", rel: "noopener noreferrer" }, button.text, " ", icon("out"));
  const waiting = item.presses.some((press) => press.data === button.callback_data && !press.answered);
  const press = () => run("press", { message_id: item.message_id, data: button.callback_data });
  return h("button", { type: "button", class: waiting ? "is-busy" : null, "data-focus": button.callback_data, disabled: !button.callback_data, onclick: press }, button.text);
}

function ticks({ mine, status }) {
  if (!mine) return null;
  if (status === "unheard") return h("span", { class: "tick" }, " not told to the bot");
  if (status === "waiting") return h("span", { class: "tick" }, icon("waiting", "Waits for the gateway"));
  if (status === "dropped") return h("span", { class: "tick is-bad" }, icon("cross"), " never taken");
  return h("span", { class: "tick is-done" }, icon("done", "The gateway took it"));
}

// A file, a place or a sticker; null for a message without one.
function inBubble({ media, service }) {
  if (media) return fileCard(media);
  if (service.location) return placeCard(service);
  if (!service.sticker) return null;
  const [name, sign] = STICKERS[service.sticker.emoji] ?? [];
  return h("p", { class: "sticker", title: service.sticker.emoji }, sign ? icon(sign, name) : service.sticker.emoji);
}
