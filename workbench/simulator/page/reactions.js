// The two reactions that decide, or say what was liked: beside each message of the assistant's.

import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";

export const THUMBS = [
  { emoji: "👍", sign: "thumb", name: "Thumbs up" },
  { emoji: "👎", sign: "thumb_down", name: "Thumbs down" },
];

// `own` are the emoji that the person has put there; `react(emoji, takenBack)` changes them.
export function thumbs(own, react) {
  return THUMBS.map(({ emoji, sign, name }) => {
    const on = own.includes(emoji);
    return h("button", { type: "button", class: "react", "data-focus": name, "aria-label": name, title: name, "aria-pressed": String(on), onclick: () => react(emoji, on) }, icon(sign));
  });
}

// What stands below a message; the glyph itself where it is none of ours to draw.
export function shownReactions(emojis) {
  if (!emojis.length) return null;
  const draw = (emoji) => {
    const known = THUMBS.find((one) => one.emoji === emoji);
    return h("span", { title: emoji }, known ? icon(known.sign, known.name) : emoji);
  };
  return h("p", { class: "reactions" }, emojis.map(draw));
}
