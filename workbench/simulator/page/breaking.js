// Break it yourself: what the assistant stands on is killed, stopped or slowed for real, and the page counts what that cost.

import { ask } from "/page/api.js";
import { h, plural, showDrawer } from "/page/dom.js";
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
const WORDS = { written: "written", answered: "answered", waiting: "under way", ignored: "without a turn", lost: "lost", doubled: "doubled" };

export function breakingDrawer(dialog, app) {
  let timer = 0;
  let state = null;
  let moving = null;
  const counts = h("dl", { class: "counts", "aria-live": "polite" });
  const parts = h("ul", { class: "parts" });
  const processes = h("input", { type: "checkbox", name: "processes", onchange: () => move(processes.checked) });
  const progress = h("p", { class: "soft", role: "status" });
  const problem = h("p", { class: "problem", role: "alert" });
  const kills = { worker: killer("Kill the worker", "worker"), web: killer("Kill web", "web") };
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
    progress,
    parts,
    h("div", { class: "breaks" }, Object.values(kills), postgres, redis),
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

  function killer(name, part) {
    return h("button", { type: "button", onclick: () => kill(part) }, icon("bolt"), ` ${name}`);
  }

  // What runs within `dev` is no process to kill: it becomes one first.
  async function kill(part) {
    if (state?.processes || (await move(true))) await run({ kill: part });
  }

  // Let web and worker go on in processes of their own, or in one; that takes as long as starting them.
  async function move(apart) {
    const began = Date.now();
    const seconds = h("span", { "aria-hidden": "true" });
    progress.replaceChildren(apart ? "Starting web and worker as processes of their own …" : "Taking web and worker back into one process …", seconds);
    const tick = () => { seconds.textContent = ` ${Math.round((Date.now() - began) / 1000)} s`; };
    tick();
    moving = setInterval(tick, LOOK_MS);
    processes.checked = apart;
    if (state) show(state);
    const is = await run({ processes: apart });
    clearInterval(moving);
    moving = null;
    progress.replaceChildren();
    if (state) show(state);
    return is;
  }

  async function run(body) {
    problem.textContent = "";
    try {
      show(await ask("/bench/breaking", { method: "POST", body }));
      return true;
    } catch (error) {
      problem.textContent = error.message;
      return false;
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

  function show(next) {
    state = next;
    processes.disabled = moving !== null;
    if (!moving) processes.checked = state.processes;
    for (const [part, one] of Object.entries(kills)) {
      one.disabled = moving !== null || (state.processes && state.parts[part]?.state !== "running");
      one.title = one.disabled ? "Not now: it is starting" : state.processes ? "" : "It becomes a process of its own first";
    }
    postgres.disabled = !state.servers.postgres;
    postgres.title = postgres.disabled ? "Not now: no Postgres of this page runs" : "";
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
      showDrawer(dialog);
      look();
    },
  };
}
