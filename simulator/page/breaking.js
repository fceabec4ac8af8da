// Break it yourself: what the assistant stands on is killed, stopped or slowed for real, and the page counts what that cost.

import { ask } from "/page/api.js";
import { h, plural } from "/page/dom.js";
import { icon } from "/page/icons.js";

const LOOK_MS = 1000;
const ENDPOINTS = ["twilio.messages.create", "slack.chat.postMessage", "telegram.sendMessage"];
const FAULTS = [
  ["Fails", "The next message to each provider is refused", ENDPOINTS, { kind: "server_error" }],
  ["Is slow", "The next message to each provider hangs for four seconds, and is not taken", ENDPOINTS, { kind: "timeout_before", seconds: 4 }],
  // Telegram cannot be asked what became of a message: such a one is sent again there, and may come twice.
  ["Loses its answer", "The next message to SMS and Slack arrives, and its answer is lost", ENDPOINTS.slice(0, 2), { kind: "reset_after" }],
];
const KINDS = ["fails", "hangs", "none"];
const WORDS = { written: "written", answered: "answered", waiting: "under way", lost: "lost", doubled: "doubled" };

export function breakingDrawer(dialog, app) {
  let timer = 0;
  const counts = h("dl", { class: "counts", "aria-live": "polite" });
  const parts = h("ul", { class: "parts" });
  const processes = h("input", { type: "checkbox", name: "processes", onchange: () => run({ processes: processes.checked }) });
  const problem = h("p", { class: "problem", role: "alert" });
  const kills = button("Kill the worker", { kill: "worker" });
  const killsWeb = button("Kill web", { kill: "web" });
  const postgres = button("Stop Postgres", { stop: "postgres" });
  const redis = button("Flush Redis", { flush: "valkey" });
  const model = KINDS.map((kind) => button({ fails: "Model fails", hangs: "Model hangs", none: "Model is well again" }[kind], { model: kind }));
  const providers = FAULTS.map(([name, title, endpoints, rule]) => h("button", { type: "button", title, onclick: () => fail(endpoints, rule) }, icon("bolt"), ` ${name}`));
  const close = h("form", { method: "dialog", class: "sheet-head" }, h("h2", { id: "breaking-title" }, "Break it"), h("button", { "aria-label": "Close" }, icon("cross")));
  dialog.append(
    close,
    h("p", {}, "Each of these is real. Write something, break something, and watch the answer come once all the same."),
    counts,
    h("label", { class: "switch" }, processes, " Run web and worker as processes of their own"),
    parts,
    h("div", { class: "breaks" }, kills, killsWeb, postgres, redis),
    h("h3", {}, "Every provider"),
    h("div", { class: "breaks" }, providers),
    h("h3", { class: "of-model" }, "The demo model"),
    h("div", { class: "breaks of-model" }, model),
    problem,
  );
  dialog.addEventListener("close", () => clearTimeout(timer));

  function button(name, body) {
    return h("button", { type: "button", onclick: () => run(body) }, icon(body.model === "none" ? "play" : "bolt"), ` ${name}`);
  }

  async function run(body) {
    problem.textContent = "";
    processes.disabled = "processes" in body;
    try {
      show(await ask("/bench/breaking", { method: "POST", body }));
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      processes.disabled = false;
    }
  }

  async function fail(endpoints, rule) {
    problem.textContent = "";
    try {
      for (const endpoint of endpoints) await ask("/sim/faults", { method: "POST", body: { endpoint, ...rule } });
      app.moved();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  async function look() {
    clearTimeout(timer);
    try {
      show(await ask("/bench/breaking"));
    } catch (error) {
      problem.textContent = error.message;
    }
    if (dialog.open) timer = setTimeout(look, LOOK_MS);
  }

  function show(state) {
    if (!processes.disabled) processes.checked = state.processes;
    kills.disabled = state.parts.worker?.state !== "running";
    killsWeb.disabled = state.parts.web?.state !== "running";
    postgres.disabled = !state.servers.postgres;
    redis.hidden = !("valkey" in state.servers);
    for (const one of dialog.querySelectorAll(".of-model")) one.hidden = state.model === null;
    for (const [index, one] of model.entries()) one.setAttribute("aria-pressed", String(KINDS[index] === state.model));
    parts.replaceChildren(
      ...Object.entries(state.parts).map(([name, part]) => h("li", { "data-state": part.state }, h("b", {}, name), ` ${part.state}, pid ${part.pid}${part.restarts ? `, started again ${plural(part.restarts, "time")}` : ""}`)),
      ...Object.entries(state.servers).map(([name, is]) => h("li", { "data-state": is ? "running" : "dead" }, h("b", {}, name), is ? " running" : " stopped")),
    );
    if (state.counts) counts.replaceChildren(...Object.entries(WORDS).map(([name, word]) => h("div", { class: name, "data-count": state.counts[name] }, h("dt", {}, word), h("dd", {}, String(state.counts[name])))));
  }

  return {
    open() {
      dialog.show();
      look();
    },
  };
}
