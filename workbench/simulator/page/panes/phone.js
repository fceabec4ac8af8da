// The phone: texts, what they cost, what became of them, and how the phone behaves.

import { act, base64, typeOf } from "/page/api.js";
import { composer } from "/page/composer.js";
import { clock, h, plural } from "/page/dom.js";
import { fileCard } from "/page/file.js";
import { icon } from "/page/icons.js";
import { countSegments, price } from "/page/segments.js";
import { letIn, withPairing } from "/page/pairing.js";
import { shownReactions, thumbs } from "/page/reactions.js";
import { messageList, tool, tools } from "/page/thread.js";

const MODES = {
  on: "On",
  off: "Switched off (30003)",
  blocked: "Blocks the number (30004)",
  unknown: "Number unknown (30005)",
  landline: "A landline (30006)",
  filtered: "Carrier filters (30007)",
  failing: "Fails at once (30008)",
  silent: "Sends no receipts",
};
const HINT = "Text Valet as you would any number.";
const PROMPTS = ["What can you do?", "Email sam@example.com that I am ten minutes late"];
const CALLBACKS = { in_order: "In order", reversed: "In reverse", twice: "Twice", none: "Never" };
// Twilio takes no more in one message, and phones shrink their pictures to less.
const LARGEST = 5 * 1024 * 1024;
// Phones send reactions as texts, by words of their own.
const TAPBACKS = { like: "👍", dislike: "👎", love: "❤️", laugh: "😂", emphasize: "‼️", question: "❓" };
const NAMES = { "👍": "like", "👎": "dislike" };
const TICKS = { queued: "waiting", accepted: "waiting", sending: "waiting", sent: "sent", delivered: "done", undelivered: "alert", failed: "alert" };

export function phonePane(root, app) {
  const time = h("span");
  const signal = h("span", { class: "signal" });
  const number = h("span", { class: "number" });
  const mode = choice("The phone", MODES, (value) => run("phone", { mode: value }));
  const callbacks = choice("Status callbacks", CALLBACKS, (value) => run("callbacks", { order: value }));
  const menu = h("details", { class: "menu" }, h("summary", { "aria-label": "Phone settings" }, icon("more")), h("div", {}, mode.root, callbacks.root));
  const list = messageList({ label: "SMS", provider: "twilio", choose: app.choose, introduce: app.introduce, hint: HINT, prompts: PROMPTS, say: (text) => say(text).catch((error) => box.say(error.message)) });
  const counter = h("p", { class: "counter", "aria-live": "off" });
  const stopped = h("p", { class: "strip", hidden: true }, "You said STOP: the carrier lets nothing through until START.");
  const words = ["STOP", "START", "HELP"].map((word) => h("button", { type: "button", onclick: () => say(word) }, word));
  const screen = h("div", { class: "screen" });
  const box = composer({
    name: "sms",
    label: "Text message",
    placeholder: "Message",
    files: { limit: LARGEST, carrier: "a text message carries", zone: screen },
    send: say,
    typed: count,
    after: [h("div", { class: "under" }, h("div", { class: "words" }, words), counter)],
  });
  const head = h("div", { class: "contact" }, h("span", { class: "face", "aria-hidden": "true" }, "V"), h("div", {}, h("h2", {}, "Valet"), number), menu);
  screen.append(h("div", { class: "status-bar", "aria-hidden": "true" }, time, signal), head, list.root, stopped, box.root);
  root.append(screen);
  count("");

  async function run(action, values) {
    try {
      await act("twilio", action, app.person.key, values);
    } catch (error) {
      box.say(error.message);
    }
  }

  async function say(text, file) {
    const media = file ? [{ name: file.name, content_type: typeOf(file), data: await base64(file) }] : undefined;
    await act("twilio", "say", app.person.key, { text, media });
  }

  function count(text) {
    const { encoding, segments, left, odd } = countSegments(text);
    const why = odd.length ? ` because of ${odd.slice(0, 3).join(" ")}` : "";
    counter.textContent = text ? `${encoding}${why} · ${left} left · ${plural(segments, "segment")} · $${price(segments, false)}` : "GSM-7 · 160 left";
    counter.classList.toggle("is-wide", encoding === "UCS-2");
  }

  function draw(state) {
    const person = app.person;
    const phone = state.people[person.key];
    time.textContent = clock(app.now(), person.timezone);
    signal.replaceChildren(icon(phone.mode === "on" ? "bars" : "cross"));
    root.classList.toggle("is-off", phone.mode !== "on");
    number.textContent = phone.mode === "on" ? state.numbers[0].number : MODES[phone.mode];
    mode.set(phone.mode);
    callbacks.set(phone.callbacks);
    stopped.hidden = !phone.stopped.length;
    const items = withPairing(phone.bubbles.map((bubble) => ({ ...bubble, mine: bubble.direction === "in", timezone: person.timezone })));
    const spoken = items.filter((item) => !item.mine).map(({ id, text }) => ({ id, text }));
    list.draw(person.key, items, (bubble) => buildBubble(bubble, app, run), spoken);
  }

  return { draw, mark: list.mark };
}

function buildBubble(bubble, app, run) {
  const own = bubble.reactions.map((name) => TAPBACKS[name]);
  const react = (emoji, taken) => run("react", { sid: bubble.id, reaction: NAMES[emoji], taken_back: taken });
  const again = bubble.mine ? tool("Deliver again", () => run("duplicate", { sid: bubble.id })) : null;
  const cost = bubble.media.length ? `MMS · $${bubble.price}` : `${bubble.encoding} · ${plural(bubble.segments, "segment")} · $${bubble.price}`;
  return h(
    "li",
    { class: bubble.mine ? "mine" : "theirs" },
    h("article", { class: "bubble", "data-about": bubble.id }, bubble.media.map(fileCard), bubble.text ? h("p", { class: "said" }, bubble.text) : null, shownReactions(own)),
    h("p", { class: "meta" }, h("time", {}, clock(bubble.at, bubble.timezone)), " ", bubble.mine ? taken(bubble) : delivered(bubble), h("span", { class: "cost" }, cost)),
    letIn(bubble, app) ?? "",
    tools(app.choose, "twilio", bubble.id, again, bubble.mine ? null : thumbs(own, react)),
  );
}

// Give what became of a text to us: did the gateway take it?
function taken({ webhook, attempts }) {
  if (webhook === "waiting") return h("span", { class: "tick" }, icon("waiting"), " on its way");
  if (/^2\d\d$/.test(webhook)) return h("span", { class: "tick is-done", title: `The gateway answered ${webhook}` }, icon("sent"), " taken");
  return h("span", { class: "tick is-bad" }, icon("cross"), ` webhook failed: ${webhook}, ${plural(attempts, "attempt")}`);
}

function delivered({ status, error_code: code, error_message: message }) {
  const bad = status === "undelivered" || status === "failed";
  const why = bad && code ? ` (${code}${message ? `: ${message}` : ""})` : "";
  const kind = bad ? "is-bad" : status === "delivered" ? "is-done" : "";
  return h("span", { class: `tick ${kind}` }, TICKS[status] ? icon(TICKS[status]) : null, ` ${status}${why}`);
}

function choice(label, options, changed) {
  const select = h("select", { onchange: () => changed(select.value) }, Object.entries(options).map(([value, text]) => h("option", { value }, text)));
  return {
    root: h("label", {}, label, select),
    set: (value) => {
      if (document.activeElement !== select) select.value = value;
    },
  };
}
