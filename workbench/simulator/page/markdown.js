// Slack's mrkdwn and a subset of standard Markdown, as elements. Whatever is not understood stays text.

import { h } from "/page/dom.js";

const EMOJI = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", hourglass: "⌛", hourglass_flowing_sand: "⏳",
  wave: "👋", pencil: "📝", calendar: "📅", bell: "🔔", lock: "🔒", email: "✉️", no_entry: "⛔", thumbsup: "👍", tada: "🎉",
};

export function link(address, ...children) {
  const good = /^(https?:|mailto:|tel:)/i.test(address);
  return good ? h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...children) : h("span", {}, ...children);
}

const emoji = [/:([a-z0-9_+-]+):/, (match) => EMOJI[match[1]] ?? match[0]];
const bare = [/https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'*_~]/, (match) => link(match[0], match[0])];

const MRKDWN = [
  [/```\n?([\s\S]+?)\n?```/, (match) => h("pre", {}, unescaped(match[1]))],
  [/`([^`\n]+)`/, (match) => h("code", {}, unescaped(match[1]))],
  [/<([@#!])([^>|]+)(?:\|([^>]*))?>/, (match) => h("span", { class: "mention" }, unescaped(match[3] || match[1].replace("!", "@") + match[2]))],
  [/<([^>|\s]+)(?:\|([^>]*))?>/, (match) => link(unescaped(match[1]), unescaped(match[2] || match[1]))],
  [/(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])/, (match, inner) => h("strong", {}, inner(match[1]))],
  [/(?<![\w_])_(?=\S)([^_\n]*[^_\s])_(?![\w_])/, (match, inner) => h("em", {}, inner(match[1]))],
  [/(?<![\w~])~(?=\S)([^~\n]*[^~\s])~(?![\w~])/, (match, inner) => h("s", {}, inner(match[1]))],
  emoji,
  [/&(amp|lt|gt);/, (match) => unescaped(match[0])],
];

const MARKDOWN = [
  [/\\([!-/:-@[-`{-~])/, (match) => match[1]],
  [/(`+)((?:(?!\1)[\s\S])+)\1/, (match) => h("code", {}, unescaped(match[2]))],
  [/!?\[([^\]]*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/, (match, inner) => link(match[2], inner(match[1]))],
  // Slack reads its own marks in Markdown, too.
  [/<([@#!])([^>|]+)(?:\|([^>]*))?>/, (match) => h("span", { class: "mention" }, unescaped(match[3] || match[1].replace("!", "@") + match[2]))],
  [/<(https?:[^>|\s]+|mailto:[^>|\s]+)(?:\|([^>]*))?>/, (match) => link(match[1], match[2] || match[1])],
  [/\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/, (match, inner) => h("strong", {}, inner(match[1]))],
  [/(?<!\w)__(?=\S)([\s\S]*?\S)__(?!\w)/, (match, inner) => h("strong", {}, inner(match[1]))],
  [/~~(?=\S)([\s\S]*?\S)~~/, (match, inner) => h("s", {}, inner(match[1]))],
  [/\*(?=[^\s*])([^*]*[^\s*])\*/, (match, inner) => h("em", {}, inner(match[1]))],
  [/(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)/, (match, inner) => h("em", {}, inner(match[1]))],
  bare,
  emoji,
  [/&(amp|lt|gt);/, (match) => unescaped(match[0])],
];

// Put marks on a text: the leftmost rule that matches wins, the earlier one where two begin together.
function inline(rules, text) {
  const out = [];
  let rest = text;
  while (rest) {
    let best = null;
    for (const [pattern, build] of rules) {
      const match = pattern.exec(rest);
      if (match && (best === null || match.index < best.match.index)) best = { match, build };
    }
    if (best === null) break;
    out.push(rest.slice(0, best.match.index), best.build(best.match, (text) => inline(rules, text)));
    rest = rest.slice(best.match.index + best.match[0].length);
  }
  return [...out, rest].filter((part) => part !== "");
}

export function unescaped(text) {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">" })[name]);
}

export function mrkdwn(text) {
  const parts = text.split(/(```[\s\S]+?```)/);
  return h("div", { class: "prose" }, parts.flatMap((part) => (part.startsWith("```") && part.length > 6 ? inline(MRKDWN, part) : quoted(part))));
}

function quoted(text) {
  return text.split(/((?:^(?:&gt;|>).*\n?)+)/m).filter(Boolean).map((part) => {
    if (!/^(&gt;|>)/.test(part)) return h("p", {}, inline(MRKDWN, part.replace(/^\n|\n$/g, "")));
    return h("blockquote", {}, inline(MRKDWN, part.replace(/^(&gt;|>) ?/gm, "").trimEnd()));
  });
}

export function markdown(text) {
  return h("div", { class: "prose" }, blocks(text.replace(/\r\n?/g, "\n").split("\n")));
}

const ITEM = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/;

// What ends a paragraph, besides an item.
const BLOCK = /^\s*(`{3,}|~{3,}|>|#{1,6}\s)/;

function blocks(lines) {
  const out = [];
  let at = 0;
  const take = (test) => {
    const from = at;
    while (at < lines.length && test(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^\s*(`{3,}|~{3,})/.exec(line);
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      at += 1;
      out.push(h("pre", {}, unescaped(take((one) => !one.trim().startsWith(fence[1])).join("\n"))));
      at += 1;
    } else if (heading) {
      out.push(h(`h${Math.min(heading[1].length + 3, 6)}`, {}, inline(MARKDOWN, heading[2])));
      at += 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push(h("hr"));
      at += 1;
    } else if (/^\s*>/.test(line)) out.push(h("blockquote", {}, blocks(take((one) => /^\s*>/.test(one)).map((one) => one.replace(/^\s*> ?/, "")))));
    else if (ITEM.test(line)) out.push(list(take((one) => ITEM.test(one) || /^\s+\S/.test(one))));
    else if (/^\s*\|.*\|\s*$/.test(line)) out.push(table(take((one) => /^\s*\|/.test(one))));
    else out.push(h("p", {}, inline(MARKDOWN, [lines[at++], ...take((one) => one.trim() && !BLOCK.test(one) && !ITEM.test(one))].join("\n"))));
  }
  return out;
}

function list(lines) {
  const [, indent, mark] = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const match = ITEM.exec(line);
    if (match && match[1].length <= indent.length) items.push({ text: match[3], below: [] });
    else if (!match && !items.at(-1).below.length && !BLOCK.test(line)) items.at(-1).text += `\n${line.trim()}`;
    else items.at(-1).below.push(line.replace(/^\s{1,4}/, ""));
  }
  const start = /^\d/.test(mark) ? Number.parseInt(mark, 10) : null;
  return h(start === null ? "ul" : "ol", { start: start === 1 ? null : start }, items.map((item) => h("li", {}, inline(MARKDOWN, item.text), blocks(item.below))));
}

function table(lines) {
  const rows = lines.map((line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()));
  const body = rows.filter((row) => !row.every((cell) => /^:?-+:?$/.test(cell)));
  const head = body.length < rows.length ? body.shift() : null;
  const cells = (row, tag) => h("tr", {}, row.map((cell) => h(tag, {}, inline(MARKDOWN, cell))));
  return h("div", { class: "table" }, h("table", {}, head ? h("thead", {}, cells(head, "th")) : null, h("tbody", {}, body.map((row) => cells(row, "td")))));
}
