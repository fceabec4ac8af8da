// Telegram's entities on a text: offsets in UTF-16 units, which are JavaScript's own.

import { h } from "/page/dom.js";
import { link } from "/page/markdown.js";

const TAGS = { bold: "strong", italic: "em", underline: "u", strikethrough: "s", code: "code", blockquote: "blockquote", expandable_blockquote: "blockquote" };

export function withEntities(text, entities) {
  const sorted = [...entities].sort((one, other) => one.offset - other.offset || other.length - one.length);
  return nest(text, sorted, 0, text.length);
}

function nest(text, entities, from, to) {
  const out = [];
  let at = from;
  let index = 0;
  while (index < entities.length) {
    const entity = entities[index];
    const end = Math.min(entity.offset + entity.length, to);
    const inside = [];
    index += 1;
    while (index < entities.length && entities[index].offset < end) inside.push(entities[index++]);
    out.push(text.slice(at, entity.offset), mark(entity, nest(text, inside, entity.offset, end), text.slice(entity.offset, end)));
    at = end;
  }
  out.push(text.slice(at, to));
  return out.filter((part) => part !== "");
}

function mark(entity, children, plain) {
  if (TAGS[entity.type]) return h(TAGS[entity.type], {}, children);
  switch (entity.type) {
    case "pre":
      return h("pre", { "data-language": entity.language || null }, children);
    case "spoiler":
      return h("button", { type: "button", class: "spoiler", "aria-label": "Show what is hidden", onclick: (event) => event.currentTarget.classList.add("is-open") }, children);
    case "text_link":
      return link(entity.url, children);
    case "url":
      return link(/^[a-z]+:/i.test(plain) ? plain : `http://${plain}`, children);
    case "email":
      return link(`mailto:${plain}`, children);
    case "phone_number":
      return link(`tel:${plain}`, children);
    default:
      return h("span", { class: `entity ${entity.type}` }, children);
  }
}
