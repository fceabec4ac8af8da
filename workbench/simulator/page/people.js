// Who is shown: the person in front, a second one beside them, and somebody new.

import { ask } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";

// `become(person)` puts somebody in front, `beside(person)` beside them, null for nobody.
export function peoplePicker(root, dialog, app, { become, beside }) {
  const name = h("input", { name: "person-name", required: true, maxlength: "40", autocomplete: "off", spellcheck: "false" });
  const problem = h("p", { class: "problem", role: "alert" });
  const close = h("form", { method: "dialog", class: "sheet-head" }, h("h2", { id: "add-title" }, "Add a person"), h("button", { "aria-label": "Close" }, icon("cross")));
  // Without an assistant beside it, the simulator can only add people.
  const family = h("p", { class: "family", hidden: true }, "Or try a household: Ben, an adult, and Cleo, a child, whom you have let in. ", h("button", { type: "button", onclick: () => ready("/bench/household") }, "Add a household"));
  const group = h("p", { class: "family", hidden: true }, "Or try a group: Ada, Grace and Hedy with the assistant, in Telegram and in a Slack channel, all of whom you have let in. ", h("button", { type: "button", onclick: () => ready("/bench/group") }, "Add a group"));
  const form = h("form", { class: "fault-form", onsubmit: add }, h("label", {}, "Their name", name), problem, h("button", { class: "primary" }, "Add them"));
  dialog.append(close, h("p", {}, "They get a phone, a Slack user and a Telegram user. The assistant does not know them: what they write first meets pairing."), form, family, group);

  async function add(event) {
    event.preventDefault();
    problem.textContent = "";
    try {
      const person = await ask("/sim/people", { method: "POST", body: { name: name.value } });
      name.value = "";
      dialog.close();
      await app.moved();
      // Wide screens show the new one beside who is there.
      beside(app.people.find((one) => one.key === person.key));
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  async function ready(path) {
    problem.textContent = "";
    try {
      const { told } = await ask(path, { method: "POST", body: {} });
      dialog.close();
      await app.moved();
      app.toast(told);
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function draw() {
    family.hidden = group.hidden = !app.pairs;
    const other = app.second ?? app.people.find((one) => one !== app.person);
    root.replaceChildren(
      root.querySelector("legend"),
      ...app.people.map((one) => h("label", {}, h("input", { type: "radio", name: "person", value: one.key, checked: one === app.person, onchange: () => become(one) }), h("span", { title: one.name }, ...nameOf(one)))),
      h("button", { type: "button", class: "add-person", "aria-label": "Add a person", title: "Add a person", "aria-haspopup": "dialog", onclick: () => dialog.showModal() }, icon("plus")),
      h("button", { type: "button", class: "two-people", "aria-pressed": String(Boolean(app.second)), title: "Two people side by side", onclick: () => beside(app.second ? null : other) }, icon("people"), h("span", {}, " Two")),
    );
  }

  return { draw };
}

// On a narrow screen, and with many people, the first name alone is shown.
export function nameOf({ name }) {
  const [first, ...more] = name.split(" ");
  return [first, more.length ? h("span", { class: "surname" }, ` ${more.join(" ")}`) : null];
}
