// Block Kit's blocks as elements. `use(action_id, value)` is what a person does with a button or a choice.

import { h } from "/page/dom.js";
import { link, markdown, mrkdwn, unescaped } from "/page/markdown.js";
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
      return h(
        "div",
        { class: "block section" },
        h(
          "div",
          { class: "section-text" },
          buildText(block.text),
          block.fields ? h("div", { class: "fields" }, block.fields.map((field) => h("div", {}, buildText(field)))) : null,
        ),
        block.accessory ? buildElement(block.accessory, use) : null,
      );
    case "actions":
    case "context_actions":
      return h("div", { class: "block actions" }, block.elements.map((element) => buildElement(element, use)));
    case "context":
      return h("div", { class: "block context" }, block.elements.map((one) => (one.type === "image" ? picture(one) : buildText(one))));
    case "divider":
      return h("hr", { class: "block" });
    case "header":
      return h("h4", { class: "block header" }, unescaped(block.text.text));
    case "image":
      return h("figure", { class: "block" }, block.title ? h("figcaption", {}, unescaped(block.title.text)) : null, picture(block));
    case "markdown":
      return h("div", { class: "block" }, markdown(block.text));
    case "rich_text":
      return h("div", { class: "block prose" }, block.elements.map(richPart));
    case "table":
      return h("div", { class: "block table" }, h("table", {}, block.rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, tableCell(cell)))))));
    case "input":
      return inputBlock(block, use);
    default:
      return h("p", { class: "block unknown" }, `A block of the kind ${block.type}.`);
  }
}

function inputBlock(block, use) {
  const id = `field-${block.block_id}`;
  const group = ["radio_buttons", "checkboxes"].includes(block.element.type);
  const label = h(group ? "legend" : "label", { for: group ? null : id }, unescaped(block.label.text), block.optional ? h("small", {}, " (optional)") : null);
  const element = buildElement(block.element, block.dispatch_action ? use : () => {}, { id, block: block.block_id });
  const hint = block.hint ? h("small", { class: "hint" }, unescaped(block.hint.text)) : null;
  const error = h("p", { class: "field-error", role: "alert", "data-error": block.block_id });
  return h(group ? "fieldset" : "div", { class: "block input" }, label, element, hint, error);
}

// Pictures elsewhere are named, not loaded: the page fetches nothing from outside.
function picture(image) {
  const address = image.image_url;
  return address ? link(address, `🖼 ${image.alt_text}`) : h("span", {}, `🖼 ${image.alt_text}`);
}

function tableCell(cell) {
  return cell.type === "rich_text" ? cell.elements.map(richPart) : cell.text;
}

function richPart(part) {
  const inside = (part.elements ?? []).map((one) => (one.type === "rich_text_section" ? h("li", {}, one.elements.map(richLeaf)) : richLeaf(one)));
  switch (part.type) {
    case "rich_text_list":
      return h(part.style === "ordered" ? "ol" : "ul", {}, inside);
    case "rich_text_preformatted":
      return h("pre", {}, inside);
    case "rich_text_quote":
      return h("blockquote", {}, inside);
    default:
      return h("p", {}, inside);
  }
}

function richLeaf(leaf) {
  const style = leaf.style ?? {};
  let node = leaf.type === "link" ? link(leaf.url, leaf.text || leaf.url) : leaf.type === "emoji" ? `:${leaf.name}:` : leaf.type === "user" ? `@${leaf.user_id}` : (leaf.text ?? "");
  for (const [name, tag] of [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"]]) if (style[name]) node = h(tag, {}, node);
  return node;
}
