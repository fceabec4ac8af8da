// Block Kit's interactive elements. In a form (`field` given) they are read by readForm; else they act at once.

import { h } from "/page/dom.js";
import { unescaped } from "/page/markdown.js";

export function buildElement(element, use, field = null) {
  const act = (value) => use(element.action_id, value);
  const base = { "data-block": field?.block, "data-kind": element.type, "data-focus": element.action_id };
  switch (element.type) {
    case "button":
      return button(element, act);
    case "static_select":
      return select(element, act, base, field);
    default:
      return input(element, act, base, field);
  }
}

function button(element, act) {
  const named = { type: "button", class: `element ${element.style ?? ""}`, "data-focus": element.action_id, "aria-label": element.accessibility_label };
  const node = h("button", named, unescaped(element.text.text));
  node.addEventListener("click", async () => {
    node.classList.add("is-busy");
    try {
      await act(element.value ?? "");
    } finally {
      node.classList.remove("is-busy");
    }
  });
  return node;
}

function select(element, act, base, field) {
  const empty = h("option", { value: "" }, unescaped(element.placeholder?.text ?? "Choose"));
  const node = h(
    "select",
    { ...base, id: field?.id, class: "element", "aria-label": field ? null : unescaped(element.placeholder?.text ?? "Choose"), onchange: () => node.value && act(node.value) },
    empty,
    element.options.map((option) => h("option", { value: option.value }, unescaped(option.text.text))),
  );
  node.value = element.initial_option?.value ?? "";
  return node;
}

function input(element, act, base, field) {
  const options = {
    ...base,
    id: field?.id,
    class: "element",
    "aria-label": field ? null : unescaped(element.placeholder?.text ?? element.type),
    placeholder: element.placeholder ? unescaped(element.placeholder.text) : null,
    minlength: element.min_length,
    maxlength: element.max_length,
    value: element.initial_value ?? "",
    onchange: (event) => act(event.target.value),
  };
  if (element.multiline) return h("textarea", { ...options, rows: "4" });
  return h("input", { type: "text", ...options });
}

// Give what a form holds, by block_id, as the control API's "submit" takes it.
export function readForm(form) {
  const values = {};
  for (const node of form.querySelectorAll("[data-block]")) {
    const { block, kind } = node.dataset;
    if (node.value || kind !== "static_select") values[block] = node.value;
  }
  return values;
}

// Put values read before back into a form that was drawn anew.
export function fillForm(form, values) {
  for (const node of form.querySelectorAll("[data-block]")) {
    const value = values[node.dataset.block];
    if (value !== undefined) node.value = value;
  }
}
