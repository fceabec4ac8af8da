// One request and its answer, as the journal has them.

import { h, plural } from "/page/dom.js";
import { icon } from "/page/icons.js";

const PROOF = /^(x-twilio-signature|i-twilio-idempotency-token|x-slack-(signature|request-timestamp|retry-num|retry-reason)|x-telegram-bot-api-secret-token|retry-after)$/i;
const LONG = 6000;

export function buildExchange(call) {
  const inward = call.direction === "in";
  const bad = call.status === 0 || call.status >= 400 || call.answer?.body?.ok === false || call.answer?.fault;
  const at = new Date(call.at * 1000).toLocaleTimeString("en-GB");
  return h(
    "li",
    {},
    h(
      "details",
      { class: `exchange ${inward ? "is-in" : "is-out"}` },
      h(
        "summary",
        {},
        h("span", { class: "way", title: inward ? "The provider calls the gateway" : "The gateway calls the provider" }, icon(inward ? "into" : "from", inward ? "to the gateway" : "from the gateway")),
        h("b", {}, breakable(call.endpoint)),
        h("span", { class: `badge ${bad ? "is-bad" : "is-good"}` }, statusOf(call)),
        h("small", {}, `${call.duration_ms < 10 ? call.duration_ms.toFixed(1) : Math.round(call.duration_ms)} ms · ${at} · #${call.number}`),
      ),
      requestPart(call.request),
      answerPart(call.answer),
    ),
  );
}

// A long name breaks at its dots, and between the words of its last part.
function breakable(name) {
  return name.split(/(?<=\.)|(?<=[a-z])(?=[A-Z])/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));
}

function statusOf({ status, answer }) {
  if (status) return answer?.body?.ok === false ? `${status} ${answer.body.error ?? answer.body.description ?? "not ok"}` : String(status);
  return answer?.no_answer ?? answer?.fault ?? "no answer";
}

function requestPart(request) {
  if (!request?.method) return h("section", {}, h("h4", {}, "Envelope"), pretty(request));
  return h("section", {}, h("h4", {}, "Request"), h("p", { class: "target" }, h("b", {}, request.method), ` ${request.url}`), headersPart(request.headers), bodyPart(request.body));
}

function answerPart(answer) {
  if (answer?.fault) return h("section", {}, h("h4", {}, "Answer"), h("p", { class: "target is-bad" }, `Fault: ${answer.fault}`), answer.would_have_answered ? [h("p", {}, "It would have been:"), pretty(answer.would_have_answered)] : null);
  if (answer?.no_answer) return h("section", {}, h("h4", {}, "Answer"), h("p", { class: "target is-bad" }, `None: ${answer.no_answer}`));
  if (answer?.status === undefined) return h("section", {}, h("h4", {}, "Answer"), pretty(answer));
  return h("section", {}, h("h4", {}, "Answer"), h("p", { class: "target" }, h("b", {}, String(answer.status))), headersPart(answer.headers ?? {}), bodyPart(answer.body));
}

function headersPart(headers) {
  const all = Object.entries(headers ?? {});
  const proof = all.filter(([name]) => PROOF.test(name));
  const table = (rows) => h("table", { class: "headers" }, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, String(value))))));
  const rest = all.length > proof.length ? h("details", {}, h("summary", {}, plural(all.length - proof.length, "more header")), table(all.filter(([name]) => !PROOF.test(name)))) : null;
  return [proof.length ? table(proof) : null, rest];
}

function bodyPart(body) {
  if (body === null || body === undefined || body === "") return h("p", { class: "none" }, "Empty body");
  return pretty(body);
}

function pretty(value) {
  const out = h("pre", { class: "json", tabindex: "0" });
  const budget = { left: LONG };
  write(out, value, "", budget);
  if (budget.left <= 0) out.append("\n… cut here");
  return out;
}

function write(out, value, indent, budget) {
  if (budget.left <= 0) return;
  const put = (text, kind) => {
    budget.left -= text.length;
    out.append(kind ? h("span", { class: kind }, text) : text);
  };
  const inside = typeof value === "string" ? parsed(value) : undefined;
  if (inside !== undefined) {
    put("JSON in a string: ", "note");
    write(out, inside, indent, budget);
  } else if (Array.isArray(value) || (value && typeof value === "object")) {
    const list = Array.isArray(value);
    const entries = list ? value.map((one) => [null, one]) : Object.entries(value);
    if (!entries.length) return put(list ? "[]" : "{}");
    put(list ? "[\n" : "{\n");
    entries.forEach(([name, one], index) => {
      put(`${indent}  `);
      if (!list) {
        put(JSON.stringify(name), "name");
        put(": ");
      }
      write(out, one, `${indent}  `, budget);
      put(index < entries.length - 1 ? ",\n" : "\n");
    });
    put(`${indent}${list ? "]" : "}"}`);
  } else put(JSON.stringify(value) ?? "null", typeof value === "string" ? "string" : "atom");
}

function parsed(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
