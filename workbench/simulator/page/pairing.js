// A stranger's code, and the operator's consent to let them in, under the message that told the code.

import { ask } from "/page/api.js";
import { h } from "/page/dom.js";

// What was said of each code that was used: its message is drawn anew when the provider says more about it.
const told = new Map();
const CODE = /\b[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}\b/;

// Strangers get codes and nothing else: a code that something was said after is used. `items` have `mine` and text.
export function withPairing(items, text = (item) => item.text) {
  const last = items.findLastIndex((item) => !item.mine);
  const code = last < 0 ? null : CODE.exec(text(items[last]))?.[0];
  return code ? items.with(last, { ...items[last], pairing: code }) : items;
}

export function letIn({ pairing }, app) {
  if (!pairing || !app.pairs) return null;
  const press = (role) => async () => {
    try {
      told.set(pairing, (await ask("/bench/pair", { method: "POST", body: { code: pairing, role } })).told);
      for (const shown of document.querySelectorAll(`[data-code="${pairing}"]`)) shown.replaceChildren(words());
      app.moved();
    } catch (error) {
      app.toast(error.message);
    }
  };
  const button = (name, role) => h("button", { type: "button", "data-focus": role, title: `bin/onevalet pair ${pairing} --role ${role}`, onclick: press(role) }, name);
  const words = () => h("span", {}, told.get(pairing));
  const choices = () => [h("span", {}, "As the operator:"), button("Let them in", "member"), button("As a guest", "guest")];
  return h("div", { class: "let-in", "data-code": pairing }, told.has(pairing) ? words() : choices());
}
