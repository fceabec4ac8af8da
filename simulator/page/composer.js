// Where a person types: Enter sends, Shift+Enter begins a line, a file goes along, a refusal is said.

import { h, size } from "/page/dom.js";

// `send(text, file)` does it; `typed(text)` hears each change; `before` and `after` stand beside the field.
export function composer({ name, label, placeholder, send, typed, accept, before = [], after = [] }) {
  const field = h("textarea", { name, rows: "1", "aria-label": label, placeholder, maxlength: "12000" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const chosen = h("p", { class: "chosen-file", hidden: true });
  const submit = h("button", { class: "send", "aria-label": `Send: ${label}`, title: "Send (Enter)" }, "↑");
  const input = h("input", { type: "file", class: "hidden", accept, "aria-label": `File: ${label}`, tabindex: "-1" });
  const attach = h(
    "button",
    { type: "button", class: "attach", "aria-label": `Attach a file: ${label}`, title: "Attach a file", onclick: () => input.click() },
    "+",
  );
  const line = h("div", { class: "composer-line" }, accept ? attach : null, before, field, submit);
  const form = h("form", { class: "composer", "aria-label": label }, problem, chosen, line, input, after);

  input.addEventListener("change", () => showFile());
  field.addEventListener("input", () => grow());
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });

  function showFile() {
    const file = input.files[0];
    chosen.hidden = !file;
    chosen.replaceChildren();
    if (!file) return;
    const remove = h("button", { type: "button", "aria-label": "Leave the file out", onclick: () => { input.value = ""; showFile(); } }, "✕");
    chosen.append(`${file.name}, ${size(file.size)} `, remove);
    field.focus();
  }

  function grow() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 140)}px`;
    typed?.(field.value);
  }

  async function go() {
    const text = field.value.trim();
    const file = input.files[0];
    if (!text && !file) return;
    field.value = "";
    grow();
    submit.disabled = true;
    try {
      say("");
      await send(text, file);
      input.value = "";
      showFile();
    } catch (error) {
      say(error.message);
      if (!field.value) field.value = text;
      grow();
    } finally {
      submit.disabled = false;
    }
  }

  function say(sentence) {
    problem.textContent = sentence;
    problem.hidden = !sentence;
  }

  function put(text) {
    field.value = text;
    grow();
    field.focus();
  }

  return { root: form, field, say, put };
}
