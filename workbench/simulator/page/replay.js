// A replay: the steps of a scenario beside the chats, each ticked off, with the first difference in plain sight.

import { ask } from "/page/api.js";
import { h, sync } from "/page/dom.js";
import { icon } from "/page/icons.js";

const LOOK_MS = 300;
const SPEEDS = { own: "As it was", fast: "Fast", step: "Step by step" };
const SIGNS = { done: "sent", failed: "cross", now: "play" };
const VERBS = {
  send: "writes", file: "sends the file", fill: "fills in", press: "presses", choose: "chooses", edit: "changes it to", delete: "deletes",
  open: "opens", close: "closes the", react: "reacts with", location: "sends the place", move: "moves the place to", unshare: "shares the place no longer", contact: "sends the contact", sticker: "sends the sticker", block: "blocks",
  phone: "The phone is", callbacks: "Status callbacks come", redeliver: "Messages delivered again:", join: "Added:", expect: "reads", silence: "reads nothing for", answer: "The model answers",
  call: "The model calls", calls: "The model calls", advance: "Time moves ahead", wait: "A worker does its", event: "An event comes", admit: "is let in", fault: "A provider fails", break: "Broken",
};

export function replayPanel(dialog) {
  let timer = 0;
  const title = h("h2", { id: "replay-title" });
  const about = h("p", { class: "soft" });
  const speeds = h("div", { class: "speeds", role: "group", "aria-label": "How fast it goes" });
  const next = h("button", { type: "button", class: "primary", onclick: () => run({ next: true }) }, icon("play"), " Next step");
  const outcome = h("p", { class: "outcome", role: "status" });
  const list = h("ol", { class: "steps-played", "aria-label": "Steps" });
  const back = h("button", { type: "button", class: "back", onclick: leave }, icon("back"), " Back");
  let home = "";
  dialog.append(h("div", { class: "sheet-head" }, title, back), about, speeds, h("div", { class: "breaks" }, next), outcome, list);

  async function run(body) {
    try {
      show(await ask("/bench/replay", { method: "POST", body }));
    } catch (error) {
      say(error.message, "failed");
    }
  }

  async function leave() {
    clearTimeout(timer);
    await run({ close: true });
    if (home) location.assign(home);
  }

  async function look() {
    clearTimeout(timer);
    try {
      show(await ask("/bench/replay"));
    } catch {
      // The installation of a replay ends with it.
      say("This replay has ended.", "failed");
      return;
    }
    timer = setTimeout(look, LOOK_MS);
  }

  function show(state) {
    home = state.back;
    back.hidden = !home;
    title.textContent = state.title;
    about.textContent = state.about;
    if (speeds.dataset.of !== state.speed) {
      speeds.dataset.of = state.speed;
      speeds.replaceChildren(...Object.entries(SPEEDS).map(([name, text]) => h("button", { type: "button", "aria-pressed": String(name === state.speed), onclick: () => run({ speed: name }) }, text)));
    }
    next.hidden = state.speed !== "step" || state.ended;
    speeds.hidden = state.ended;
    const failed = state.steps.find((one) => one.state === "failed");
    if (failed) say(`Step ${failed.number} went otherwise: ${failed.told}`, "failed");
    else if (state.error) say(state.error, "failed");
    else if (state.ended) say("Every step went as the file says.", "done");
    else say("", "");
    const drawn = sync(list, state.steps, (one) => one.number, build);
    const current = state.steps.findLast((one) => one.state === "now" || one.state === "failed");
    if (current && list.dataset.at !== String(current.number)) {
      list.dataset.at = String(current.number);
      drawn.get(String(current.number)).node.scrollIntoView({ block: "nearest" });
    }
  }

  function say(words, is) {
    if (outcome.textContent !== words) outcome.textContent = words;
    outcome.dataset.state = is;
  }

  function build(step) {
    const sign = SIGNS[step.state];
    return h(
      "li",
      { "data-state": step.state, "aria-current": step.state === "now" ? "step" : null },
      h("span", { class: "sign" }, sign ? icon(sign, step.state) : String(step.number)),
      h("span", { class: "what" }, h("b", {}, VERBS[step.verb]), ` ${step.words}`, step.place ? h("small", {}, ` ${step.place}`) : null, step.state === "failed" ? h("span", { class: "told" }, step.told) : null),
    );
  }

  document.body.classList.add("is-replay");
  dialog.show();
  look();
}
