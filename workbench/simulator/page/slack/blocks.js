// Block Kit's blocks as elements. `use(action_id, value)` is what a person does with a button or a choice.

import { h } from "/page/dom.js";
import { markdown, mrkdwn, unescaped } from "/page/markdown.js";
import { buildElement } from "/page/slack/elements.js";

export function buildBlocks(blocks, use) {
  return blocks.map((block) => buildBlock(block, use));
}

export function buildText(object) {
  if (!object) return null;
  return object.type === "mrkdwn" ? mrkdwn(object.text) : h("span", { class: "plain" }, unescaped(object.text));
}

function buildBlock(block, use) {
  switch (block.type) {
    case "section":
      return h("div", { class: "block section" }, buildText(block.text));
    case "actions":
      return h("div", { class: "block actions" }, block.elements.map((element) => buildElement(element, use)));
    case "context":
      return h("div", { class: "block context" }, block.elements.map(buildText));
    case "header":
      return h("h4", { class: "block header" }, unescaped(block.text.text));
    case "markdown":
      return h("div", { class: "block" }, markdown(block.text));
    case "input":
      return inputBlock(block, use);
    default:
      return h("p", { class: "block unknown" }, `A block of the kind ${block.type}.`);
  }
}

function inputBlock(block, use) {
  const id = `field-${block.block_id}`;
  const label = h("label", { for: id }, unescaped(block.label.text), block.optional ? h("small", {}, " (optional)") : null);
  const element = buildElement(block.element, block.dispatch_action ? use : () => {}, { id, block: block.block_id });
  const hint = block.hint ? h("small", { class: "hint" }, unescaped(block.hint.text)) : null;
  const error = h("p", { class: "field-error", role: "alert", "data-error": block.block_id });
  return h("div", { class: "block input" }, label, element, hint, error);
}
