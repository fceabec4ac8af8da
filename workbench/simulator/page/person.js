// Who the person is to the assistant: linked places, what waits, tasks, memory, quiet hours and spend; decisions as in chat.

import { act, ask } from "/page/api.js";
import { h } from "/page/dom.js";

const LOOK_MS = 1500;
const CHANNELS = { sms: "SMS", slack: "Slack", telegram: "Telegram", terminal: "Terminal", email: "Email" };

export function personPanel(root, app) {
  let timer = 0;
  let shown = "";

  async function look() {
    clearTimeout(timer);
    if (root.hidden || !app.person) return;
    const { key } = app.person;
    try {
      const person = await ask(`/bench/person?${new URLSearchParams({ key })}`);
      if (key === app.person.key) show(person);
    } catch (error) {
      root.replaceChildren(h("p", { class: "empty" }, error.message));
      shown = "";
    }
    clearTimeout(timer);
    timer = setTimeout(look, LOOK_MS);
  }

  function show(person) {
    const json = JSON.stringify([app.person.key, person]);
    if (json === shown) return;
    shown = json;
    root.replaceChildren(...(person.known ? known(person) : stranger()));
  }

  function stranger() {
    return [
      h("h3", {}, app.person.name),
      h("p", {}, "A stranger here. Strangers get a code and nothing else: write something and see."),
      h("p", {}, "The operator lets them in with the code: under the message that tells it, on the ", h("a", { href: `${app.gateway}/console/people`, target: "_blank", rel: "noopener" }, "console"), ", or in a terminal: ", h("code", {}, "bin/onevalet pair CODE")),
    ];
  }

  function known(person) {
    return [
      h("h3", {}, person.name || app.person.name, h("small", {}, ` ${person.role}, ${person.timezone || "no timezone yet"}`)),
      part("Linked places", person.places.map((place) => h("li", {}, h("b", {}, CHANNELS[place.channel] ?? place.channel), ` ${place.address}`, place.state === "active" ? null : h("small", {}, ` ${place.state}`)))),
      part("Waits for a decision", person.waiting.map((one) => h("li", {}, h("b", {}, one.code), ` ${one.name}, until ${one.until} `, decide("Approve", `OK ${one.code}`), decide("Cancel", `NO ${one.code}`)))),
      part("Tasks", person.tasks.map((one) => h("li", {}, h("b", {}, `${one.number}`), ` ${one.name}`, h("small", {}, ` ${one.next || one.standing}`)))),
      part("Remembered", person.memories.map((one) => h("li", {}, h("b", {}, `${one.number}`), ` ${one.text}`))),
      h("dl", { class: "facts" }, fact("Quiet hours", person.quiet || "none"), fact("Muted", person.muted.join(", ") || "nothing"), fact("Spent today", `$${person.spent}`)),
      h("div", { class: "breaks" }, ["PENDING", "MEMORY", "PREFS"].map((word) => decide(word, word))),
      h("p", { class: "turn-id" }, h("a", { href: `${app.gateway}/console/people/${person.id}`, target: "_blank", rel: "noopener" }, "All of it on the console")),
    ];
  }

  // The words that the person would write on the phone.
  function decide(name, text) {
    const press = async () => {
      try {
        await act("twilio", "say", app.person.key, { text });
      } catch (error) {
        app.toast(error.message);
      }
    };
    return h("button", { type: "button", title: `Write “${text}” by SMS`, onclick: press }, name);
  }

  return { look };
}

const part = (title, rows) => h("section", {}, h("h4", {}, title), rows.length ? h("ul", {}, rows) : h("p", { class: "none" }, "Nothing"));
const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
