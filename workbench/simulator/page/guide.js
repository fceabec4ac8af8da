// A guided minute: ask by SMS, approve from Slack, be reminded on Telegram by the moved clock. Each step says what happened.

import { act, ask } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";

const ASKED = "Email sam@example.com that I am ten minutes late";
const REMIND = "Remind me in 2 hours to call Grace";
const CODE = /\bOK ([0-9A-Z]{2})\b/;
const KEY = "onevalet-guide";

// Each step: the chat in which it happens, what is to do, the words of its button, and what has happened once it is done.
const STEPS = [
  {
    title: "Ask by SMS",
    pane: "phone",
    todo: "Text the assistant something that it may not do without you.",
    button: () => `Text “${ASKED}”`,
    done: ({ card, sent }) => Boolean(card) || sent,
    run: (app) => act("twilio", "say", app.person.key, { text: ASKED }),
    under: "The text came by a signed webhook and was stored before the provider got its 200. A worker took it, the model asked for the tool, and the gate stopped the call: an email needs your consent to exactly these words.",
  },
  {
    title: "Approve from Slack",
    pane: "slack",
    todo: "Consent from another place of yours: Slack, the phone and Telegram belong to one person.",
    button: ({ card }) => `Write “OK ${card}” on Slack`,
    done: ({ sent }) => sent,
    run: (app, seen) => act("slack", "say", app.person.key, { text: `OK ${seen.card}` }),
    under: "The code is good for this one action, once. The turn went on where it had stopped, even if the worker had died meanwhile, and the email was sent: the simulator's mailbox has it.",
  },
  {
    title: "Be reminded on Telegram",
    pane: "telegram",
    todo: "Ask for a reminder there.",
    button: () => `Write “${REMIND}”`,
    done: ({ planned }) => planned,
    run: async (app, seen) => {
      if (!seen.started) await act("telegram", "start", app.person.key);
      await act("telegram", "say", app.person.key, { text: REMIND });
    },
    under: "A reminder is a task in the database, with your timezone. Nothing waits in a process's memory for it.",
  },
  {
    title: "Move the clock",
    pane: "telegram",
    todo: "Let two hours pass.",
    button: () => "Move the clock two hours ahead",
    done: ({ reminded }) => reminded,
    run: () => ask("/bench/clock", { method: "POST", body: { seconds: 7200 } }),
    under: "The task became due, was run once, and was pushed to Telegram. Choose any message to see its turn's path. Then break something: the answer comes once all the same.",
  },
];

// `opener` shows and hides it on a narrow screen, where it stands under the chat; `again` brings it back.
export function guide(root, opener, again, app) {
  let at = 0;
  let seen = {};
  const list = h("ol", { class: "guide-steps" });
  const words = h("p", { class: "guide-words" });
  const go = h("button", { type: "button", class: "primary", onclick: run });
  const close = h("button", { type: "button", class: "guide-close", "aria-label": "Leave the guide", onclick: leave }, icon("cross"));
  opener.append(icon("spark"));
  opener.hidden = again.hidden = false;
  opener.addEventListener("click", () => (isLeft() ? back() : open(!document.body.classList.contains("shows-guide"))));
  again.querySelector("button").addEventListener("click", () => {
    again.closest("dialog").close();
    back();
  });
  open(!isLeft());
  root.append(h("h2", {}, icon("spark"), " A guided minute"), list, words, go, close);

  async function run() {
    go.disabled = true;
    try {
      app.showTab(STEPS[at].pane);
      await STEPS[at].run(app, seen);
      await app.moved();
    } catch (error) {
      app.toast(error.message);
    } finally {
      go.disabled = false;
    }
  }

  function leave() {
    localStorage.setItem(KEY, "left");
    root.hidden = true;
    open(false);
  }

  function back() {
    localStorage.removeItem(KEY);
    open(true);
    app.redraw();
  }

  function open(is) {
    document.body.classList.toggle("shows-guide", is);
    opener.setAttribute("aria-expanded", String(is));
  }

  // `state` is what the providers know.
  function draw(state) {
    if (isLeft()) return;
    root.hidden = app.person !== app.people[0];
    seen = read(state, app.person.key);
    at = 0;
    while (at < STEPS.length && STEPS[at].done(seen)) at += 1;
    const step = STEPS[at];
    list.replaceChildren(...STEPS.map((one, index) => h("li", { "data-state": index < at ? "done" : index === at ? "now" : "later", "aria-current": index === at ? "step" : null }, index < at ? icon("sent", "done") : null, ` ${one.title}`)));
    words.replaceChildren(at > 0 ? h("span", { class: "under-it" }, STEPS[at - 1].under) : "", step ? h("b", {}, ` ${step.todo}`) : "");
    go.hidden = !step;
    if (step) go.textContent = step.button(seen);
  }

  return { draw };
}

const isLeft = () => localStorage.getItem(KEY) === "left";

// What of the guide has happened, told by the chats.
function read(state, key) {
  const texts = state.twilio.people[key].bubbles;
  const asked = texts.findLastIndex((one) => one.direction === "in" && one.text === ASKED);
  const card = asked < 0 ? null : texts.slice(asked).find((one) => one.direction === "out" && CODE.test(one.text));
  const dropped = card && texts.slice(texts.indexOf(card)).some((one) => one.direction === "out" && one.text.startsWith("Not done"));
  const telegram = state.telegram.people[key];
  const wanted = telegram.messages.findLastIndex((one) => one.direction === "in" && one.text === REMIND);
  const after = wanted < 0 ? [] : telegram.messages.slice(wanted).filter((one) => one.direction === "out" && one.text.includes("call Grace"));
  return {
    card: card && !dropped ? CODE.exec(card.text)[1] : "",
    sent: Boolean(card) && !dropped && state.mail.some((one) => one.to.includes("sam@example.com") && `${one.subject} ${one.text}`.includes("ten minutes late")),
    started: telegram.started,
    planned: after.length > 0,
    reminded: after.length > 1,
  };
}
