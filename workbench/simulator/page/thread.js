// A list of messages that keeps its place: it follows the end only for whoever is at the end.

import { announce, h, sync } from "/page/dom.js";
import { icon } from "/page/icons.js";

const NEAR = 80;

// `prompts` are sentences that an empty chat offers; `say` sends one. `introduce` returns what is said instead of the hint.
export function messageList({ label, provider, choose, hint = "", introduce = () => "", prompts = [], say }) {
  const list = h("ol", { class: "messages", "aria-label": label, tabindex: "0", "data-provider": provider });
  const jump = h("button", { type: "button", class: "jump", hidden: true, onclick: toEnd }, "New messages ", icon("down"));
  const offered = prompts.map((text) => h("button", { type: "button", onclick: () => say(text) }, text));
  const words = h("p");
  const empty = h("div", { class: "hint-empty", hidden: true }, words, offered.length ? h("div", { class: "prompts-here" }, offered) : null);
  const root = h("div", { class: "scroll" }, list, empty, jump);
  let person = null;
  let known = new Set();
  let follows = true;
  let top = 0;

  list.addEventListener("scroll", () => {
    // What grows below is no scrolling up.
    follows = isAtEnd() || (follows && list.scrollTop >= top);
    if (isAtEnd()) jump.hidden = true;
  });
  // A picture has its height only once it is there; such events do not bubble.
  list.addEventListener("load", () => follows && toEnd(), true);
  list.addEventListener("click", (event) => {
    const bubble = event.target.closest("[data-about]");
    if (!bubble || event.target.closest("a, button, input, select, textarea, label, summary")) return;
    if (String(getSelection())) return;
    choose({ provider, id: bubble.dataset.about });
  });

  function isAtEnd() {
    return list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
  }

  function toEnd() {
    list.scrollTop = list.scrollHeight;
    top = list.scrollTop;
    follows = true;
    jump.hidden = true;
  }

  // `items` have `id`; `spoken` are those a screen reader should hear of, once, as {id, text}.
  function draw(who, items, build, spoken = []) {
    const other = who !== person;
    const wasAtEnd = other || isAtEnd();
    if (other) sync(list, [], (item) => item.id, build);
    sync(list, items, (item) => item.id, build);
    words.textContent = introduce(who) || hint;
    empty.hidden = !words.textContent || items.length > 0;
    const fresh = items.filter((item) => !known.has(item.id));
    if (!other) for (const one of spoken) if (!known.has(one.id)) announce(`${label}: ${one.text}`);
    known = new Set(items.map((item) => item.id));
    person = who;
    if (wasAtEnd || fresh.some((item) => item.mine)) toEnd();
    else if (fresh.length) jump.hidden = false;
  }

  function mark(chosen) {
    for (const node of list.querySelectorAll("[data-about]")) {
      const is = chosen?.provider === provider && chosen.id === node.dataset.about;
      node.classList.toggle("is-chosen", is);
      if (is) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
  }

  new ResizeObserver(() => {
    if (jump.hidden) toEnd();
  }).observe(list);
  return { root, list, draw, mark };
}

// The small buttons of a message; the first always shows the wire.
export function tools(choose, provider, id, ...more) {
  const wire = h("button", { type: "button", "data-focus": "wire", onclick: () => choose({ provider, id }) }, "Wire");
  return h("div", { class: "tools" }, wire, ...more);
}

export function tool(name, run) {
  return h("button", { type: "button", "data-focus": name, onclick: run }, name);
}
