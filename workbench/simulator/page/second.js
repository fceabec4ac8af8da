// A second person beside the first: whose chats, and which of them.

import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { phonePane } from "/page/panes/phone.js";
import { slackPane } from "/page/panes/slack.js";
import { telegramPane } from "/page/panes/telegram.js";

const MAKERS = { twilio: ["Phone", "phone", phonePane], slack: ["Slack", "slack", slackPane], telegram: ["Telegram", "telegram", telegramPane] };

// `become(person)` changes who it is; null closes it.
export function secondPerson(root, app, become) {
  // The panes see the same page, with another person in front.
  const own = Object.create(app, { person: { get: () => app.second } });
  const select = h("select", { "aria-label": "The second person", onchange: () => become(app.people.find((one) => one.key === select.value)) });
  const close = h("button", { type: "button", class: "close-second", "aria-label": "Close the second person", onclick: () => become(null) }, icon("cross"));
  const tabs = [];
  const panes = {};
  const sections = [];
  for (const [provider, [title, kind, make]] of Object.entries(MAKERS)) {
    const section = h("section", { class: `pane ${kind}`, "aria-label": `${title} of the second person` });
    panes[provider] = make(section, own);
    sections.push(section);
    tabs.push(h("button", { type: "button", role: "tab", "aria-selected": "false", onclick: () => show(kind) }, title));
  }
  root.append(h("header", {}, select, close, h("div", { role: "tablist", "aria-label": "Chats of the second person" }, tabs)), ...sections);
  show("phone");

  function show(kind) {
    for (const [index, section] of sections.entries()) {
      const is = section.classList.contains(kind);
      section.hidden = !is;
      tabs[index].setAttribute("aria-selected", String(is));
    }
  }

  function draw(state) {
    root.hidden = !app.second;
    document.body.classList.toggle("has-second", Boolean(app.second));
    if (!app.second) return;
    const others = app.people.filter((one) => one !== app.person);
    const json = JSON.stringify([others, app.second.key]);
    if (select.dataset.of !== json) {
      select.dataset.of = json;
      select.replaceChildren(...others.map((one) => h("option", { value: one.key }, one.name)));
      select.value = app.second.key;
    }
    for (const [provider, pane] of Object.entries(panes)) pane.draw(state[provider]);
  }

  function mark(chosen) {
    for (const pane of Object.values(panes)) pane.mark(chosen);
  }

  return { draw, mark };
}
