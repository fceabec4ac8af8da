// Where a person types: Enter sends, Shift+Enter begins a line, a file goes along, a refusal is said.

import { attachment } from "/page/attachment.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { recorder } from "/page/voice.js";

const TALLEST = 140;

// `send(text, file)` does it; `typed(text)` hears each change; `before` and `after` stand beside the field. `files` says how
// large a file may be and where it may be dropped: see attachment.js.
export function composer({ name, label, placeholder, send, typed, files, before = [], after = [] }) {
  const field = h("textarea", { name, rows: "1", "aria-label": label, placeholder, maxlength: "12000" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const submit = h("button", { class: "send", "aria-label": `Send: ${label}`, title: "Send (Enter)" }, icon("up"));
  const form = h("form", { class: "composer", "aria-label": label });
  const attached = attachment({ label, ...files, say, chosen: () => field.focus() });
  const voice = recorder({ label, say, take: (file) => attached.take(file) });
  const line = h("div", { class: "composer-line" }, attached.button, before, field, voice.button, submit);
  form.append(problem, attached.line, voice.line, line, attached.input, ...[after].flat());

  field.addEventListener("input", () => grow());
  addEventListener("resize", () => grow());
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });

  function grow() {
    field.style.height = "auto";
    if (field.checkVisibility()) fit(); // what is hidden has no height to measure
    typed?.(field.value);
  }

  function fit() {
    const borders = field.offsetHeight - field.clientHeight;
    field.style.height = `${Math.min(field.scrollHeight + borders, TALLEST)}px`;
    field.classList.toggle("scrolls", field.scrollHeight + borders > TALLEST);
  }

  async function go() {
    const text = field.value.trim();
    const file = attached.file();
    if (!text && !file) return;
    field.value = "";
    attached.set(null);
    grow();
    submit.disabled = true;
    try {
      say("");
      await send(text, file);
    } catch (error) {
      say(error.message);
      if (!field.value) field.value = text;
      if (!attached.file()) attached.set(file);
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
