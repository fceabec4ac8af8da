// The one file that goes with the next message: chosen, dropped or pasted; too large a one is refused at once.

import { announce, h, size } from "/page/dom.js";
import { icon } from "/page/icons.js";

// `limit` is in bytes and `carrier` names who sets it; a file may be dropped anywhere on `zone`; `say(sentence)` shows a refusal.
export function attachment({ label, limit, carrier, zone, say, chosen }) {
  let file = null;
  const line = h("p", { class: "chosen-file", hidden: true });
  const input = h("input", { type: "file", class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  const button = h(
    "button",
    { type: "button", class: "attach", "aria-label": `Attach a file: ${label}`, title: "Attach a file, or drop it here", onclick: () => input.click() },
    icon("plus"),
  );
  input.addEventListener("change", () => {
    take(input.files[0]);
    // The same file, chosen again, is a change too.
    input.value = "";
  });
  // A message that comes in under the pointer is entered: what does not take the file there lets the browser open it.
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      if (!takes(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      zone.classList.add("is-dropping");
    });
  }
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("is-dropping");
  });
  zone.addEventListener("drop", (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    zone.classList.remove("is-dropping");
    take(...event.dataTransfer.files);
  });
  zone.addEventListener("paste", (event) => {
    if (event.defaultPrevented || !event.clipboardData.files.length) return;
    event.preventDefault();
    take(...event.clipboardData.files);
  });

  // A pane inside another one takes what is dropped on it; a chat that cannot be written to takes nothing.
  function takes(event) {
    return !event.defaultPrevented && carriesFiles(event) && !input.closest("[hidden]");
  }

  function take(next, ...more) {
    if (!next) return;
    if (more.length) return say("One file at a time goes with a message.");
    if (!next.size) return say(`${next.name} is empty.`);
    if (next.size > limit) return say(`${next.name} has ${size(next.size)}: ${carrier} at most ${size(limit)}.`);
    say("");
    set(next);
    announce(`Attached to ${label}: ${next.name}, ${size(next.size)}`);
    chosen();
  }

  function set(next) {
    file = next;
    line.hidden = !file;
    line.replaceChildren();
    if (!file) return;
    const remove = h("button", { type: "button", "aria-label": `Leave ${file.name} out`, onclick: () => { set(null); chosen(); } }, icon("cross"));
    line.append(`${file.name}, ${size(file.size)} `, remove);
  }

  return { button, input, line, set, take, file: () => file };
}

export const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
