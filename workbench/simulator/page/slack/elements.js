// Block Kit's interactive elements. In a form (`field` given) they are read by readForm; else they act at once.

import { h } from "/page/dom.js";
import { link, unescaped } from "/page/markdown.js";

const TYPES = {
  email_text_input: "email", url_text_input: "url", number_input: "number",
  datepicker: "date", timepicker: "time", datetimepicker: "datetime-local",
};
const PEOPLE = ["users_select", "conversations_select", "channels_select", "external_select"];

export function buildElement(element, use, field = null) {
  const act = (value) => use(element.action_id, value);
  const base = { "data-block": field?.block, "data-kind": element.type, "data-focus": element.action_id };
  switch (element.type) {
    case "button":
      return button(element, act);
    case "image":
      return link(element.image_url ?? "", `🖼 ${element.alt_text}`);
    case "static_select":
    case "overflow":
      return select(element, act, base, field);
    case "multi_static_select":
    case "checkboxes":
      return choices(element, act, base, "checkbox");
    case "radio_buttons":
      return choices(element, act, base, "radio");
    case "feedback_buttons":
      return h("span", { class: "feedback" }, [element.positive_button, element.negative_button].map((one) =>
        h("button", { type: "button", class: "element", onclick: () => act(one.value) }, unescaped(one.text.text))));
    case "icon_button":
      return h("button", { type: "button", class: "element", onclick: () => act(element.value ?? "") }, `🗑 ${unescaped(element.text.text)}`);
    default:
      return input(element, act, base, field);
  }
}

function button(element, act) {
  const kind = `element ${element.style ?? ""}`;
  const name = unescaped(element.text.text);
  if (element.url) return h("span", { class: kind, onclick: () => act("") }, link(element.url, name));
  const node = h("button", { type: "button", class: kind, "data-focus": element.action_id, "aria-label": element.accessibility_label }, name);
  node.addEventListener("click", async () => {
    if (element.confirm && !(await confirmed(element.confirm))) return;
    node.classList.add("is-busy");
    try {
      await act(element.value ?? "");
    } finally {
      node.classList.remove("is-busy");
    }
  });
  return node;
}

function confirmed(confirm) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog",
      { class: "confirm", "aria-label": unescaped(confirm.title?.text ?? "Are you sure?") },
      h("h3", {}, unescaped(confirm.title?.text ?? "Are you sure?")),
      h("p", {}, unescaped(confirm.text?.text ?? "")),
      h(
        "form",
        { method: "dialog" },
        h("button", { value: "no", class: "element" }, unescaped(confirm.deny?.text ?? "Cancel")),
        h("button", { value: "yes", class: `element ${confirm.style ?? "primary"}` }, unescaped(confirm.confirm?.text ?? "Yes")),
      ),
    );
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function select(element, act, base, field) {
  const empty = h("option", { value: "" }, unescaped(element.placeholder?.text ?? (element.type === "overflow" ? "More" : "Choose")));
  const node = h(
    "select",
    { ...base, id: field?.id, class: "element", "aria-label": field ? null : unescaped(element.placeholder?.text ?? "Choose"), onchange: () => node.value && act(node.value) },
    empty,
    element.options.map((option) => h("option", { value: option.value }, unescaped(option.text.text))),
  );
  node.value = element.initial_option?.value ?? "";
  return node;
}

function choices(element, act, base, type) {
  const initial = new Set((element.initial_options ?? [element.initial_option]).filter(Boolean).map((option) => option.value));
  const name = `${base["data-block"] ?? ""}:${element.action_id}`;
  return h("div", { class: "choices" }, element.options.map((option) =>
    h(
      "label",
      {},
      h("input", { ...base, type, name, value: option.value, checked: initial.has(option.value), onchange: (event) => event.target.checked && act(option.value) }),
      unescaped(option.text.text),
      option.description ? h("small", {}, " ", unescaped(option.description.text)) : null,
    )));
}

function input(element, act, base, field) {
  const start = element.initial_value ?? element.initial_date ?? element.initial_time ?? "";
  const options = {
    ...base,
    id: field?.id,
    class: "element",
    "aria-label": field ? null : unescaped(element.placeholder?.text ?? element.type),
    placeholder: element.placeholder ? unescaped(element.placeholder.text) : PEOPLE.includes(element.type) ? "U…" : null,
    minlength: element.min_length,
    maxlength: element.max_length,
    value: start,
    onchange: (event) => act(event.target.value),
  };
  if (element.multiline) return h("textarea", { ...options, rows: "4" });
  return h("input", { type: TYPES[element.type] ?? "text", step: element.type === "number_input" && element.is_decimal_allowed ? "any" : null, ...options });
}

// Give what a form holds, by block_id, as the control API's "submit" takes it.
export function readForm(form) {
  const values = {};
  for (const node of form.querySelectorAll("[data-block]")) {
    const { block, kind } = node.dataset;
    if (kind === "checkboxes" || kind === "multi_static_select") values[block] = [...(values[block] ?? []), ...(node.checked ? [node.value] : [])];
    else if (kind === "radio_buttons") {
      if (node.checked) values[block] = node.value;
    } else if (kind === "datetimepicker") {
      if (node.value) values[block] = Math.floor(new Date(node.value).getTime() / 1000);
    } else if (node.value || !["static_select", "datepicker", "timepicker", ...PEOPLE].includes(kind)) values[block] = node.value;
  }
  return values;
}

// Put values read before back into a form that was drawn anew.
export function fillForm(form, values) {
  for (const node of form.querySelectorAll("[data-block]")) {
    const value = values[node.dataset.block];
    if (value === undefined) continue;
    if (node.type === "checkbox" || node.type === "radio") node.checked = [value].flat().includes(node.value);
    else if (node.dataset.kind !== "datetimepicker") node.value = value;
  }
}
