// The path of a turn beside the wire: received, recalled, model, tools, sent, delivered, with times, tokens and money.

import { ask } from "/page/api.js";
import { h, plural, sync } from "/page/dom.js";

const LOOK_MS = 700;
// After a turn has ended its answer is still on the way.
const LOOKS_AFTER = 12;
const NAMESPACE = "http://www.w3.org/2000/svg";

export function pathPanel(root) {
  let wanted = null;
  let timer = 0;
  let left = 0;
  const figures = h("dl", { class: "figures" });
  const list = h("ol", { class: "waterfall", "aria-label": "Steps of the turn" });
  const empty = h("p", { class: "empty" });
  const command = h("p", { class: "turn-id" });
  root.append(figures, list, command, empty);
  show(null);

  // Follow the turn of a message, as {provider, id}; null for none.
  function follow(next) {
    const isOther = next?.id !== wanted?.id || next?.provider !== wanted?.provider;
    wanted = next;
    if (isOther) show(null);
    left = LOOKS_AFTER;
    return look();
  }

  async function look() {
    clearTimeout(timer);
    if (!wanted || root.hidden) return;
    const asked = wanted;
    let path = null;
    let error = "";
    try {
      ({ path, error } = await ask(`/bench/path?${new URLSearchParams({ provider: asked.provider, about: asked.id })}`));
    } catch (problem) {
      error = problem.message;
    }
    if (asked !== wanted) return;
    if (error) {
      tell(error);
      return again();
    }
    show(path);
    if (!path || path.running) left = Math.max(left - 1, path ? LOOKS_AFTER : 0);
    else left -= 1;
    again();
  }

  function again() {
    clearTimeout(timer);
    if (left > 0) timer = setTimeout(look, LOOK_MS);
  }

  function show(path) {
    for (const one of [figures, list, command]) one.hidden = !path;
    tell(path ? "" : wanted ? "No turn has begun about this message: it is not taken yet, or needs no thought." : "Write something, and follow here what becomes of it.");
    if (!path) return;
    figures.replaceChildren(...figuresOf(path).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    sync(list, path.spans.map((span, index) => ({ ...span, index })), ({ index }) => index, buildSpan);
    command.replaceChildren("bin/onevalet trace ", h("code", {}, path.turn));
  }

  function tell(sentence) {
    empty.textContent = sentence;
    empty.hidden = !sentence;
  }

  return { follow, look };
}

function figuresOf(path) {
  const figures = [
    ["State", path.running && path.state !== "waiting" ? "going on" : path.state],
    ["Took", took(path.took_ms)],
    ["Model", plural(path.model_calls, "call")],
    ["Tools", String(path.tool_calls)],
    ["Tokens", path.tokens.toLocaleString("en")],
    ["Cost", path.tokens === 0 ? "none" : path.cost === null ? "not known" : `$${path.cost.toFixed(4)}`],
  ];
  return path.attempts > 1 ? [...figures, ["Attempts", String(path.attempts)]] : figures;
}

function buildSpan(span) {
  return h(
    "li",
    { class: `span kind-${span.kind}${span.failed ? " is-failed" : ""}${span.depth ? ` depth-${Math.min(span.depth, 3)}` : ""}` },
    h(
      "details",
      {},
      h("summary", {}, h("span", { class: "name" }, span.title, span.note ? h("small", {}, ` ${span.note}`) : null), track(span), h("span", { class: "took" }, took(span.took_ms))),
      h(
        "div",
        { class: "inside" },
        h("dl", { class: "facts" }, span.facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
        span.texts.map(([name, text]) => [h("h4", {}, name), h("pre", { class: "json", tabindex: "0" }, text)]),
      ),
    ),
  );
}

function track({ begin, length }) {
  const svg = document.createElementNS(NAMESPACE, "svg");
  for (const [name, value] of Object.entries({ class: "track", viewBox: "0 0 1000 12", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
  svg.append(bar("whole", 0, 1000), bar("part", begin, length));
  return svg;
}

function bar(kind, x, width) {
  const rect = document.createElementNS(NAMESPACE, "rect");
  for (const [name, value] of Object.entries({ class: kind, x, width, height: 12 })) rect.setAttribute(name, value);
  return rect;
}

const took = (ms) => (ms < 1 ? "" : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
