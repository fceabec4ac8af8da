// The model that answers: found on this machine or at a provider by a key, tried before it is kept, and the way back.

import { ask } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";

const DEMO = "Demo model";

// `opener` is the button in the bar, which says who answers.
export function modelSheet(dialog, opener, app) {
  let state = null;
  const now = h("p", { class: "model-now", role: "status" });
  const demo = h("button", { type: "button", onclick: () => run("Going back to the demo model …", "DELETE") }, "Back to the demo model");
  const found = h("div", { class: "found" });
  const key = h("input", { name: "key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "Paste a key", oninput: recognise });
  const preset = h("select", { name: "preset", onchange: () => offer() });
  const name = h("input", { name: "model", autocomplete: "off", spellcheck: "false", required: true });
  const further = h("div", { class: "further" });
  const page = h("p", { class: "soft" });
  const problem = h("p", { class: "problem", role: "alert" });
  const form = h(
    "form",
    { class: "fault-form", onsubmit: chooseKey },
    h("label", {}, "Key", key),
    h("label", {}, "Provider", preset),
    page,
    further,
    h("label", {}, "Model", name),
    h("button", { class: "primary" }, "Try it, and keep it"),
  );
  const close = h("form", { method: "dialog", class: "sheet-head" }, h("h2", { id: "model-title" }, "The model"), h("button", { "aria-label": "Close" }, icon("cross")));
  const choices = h("div", {}, h("h3", {}, "On this machine"), found, h("h3", {}, "At a provider"), form);
  dialog.append(close, now, demo, problem, choices, h("p", { class: "soft" }, "A choice is kept in ONEVALET_HOME, for your eyes only; a key is never shown again."));
  dialog.addEventListener("close", () => {
    key.value = "";
  });
  opener.addEventListener("click", () => {
    problem.textContent = "";
    dialog.showModal();
    look();
  });

  async function refresh() {
    show(await ask("/bench/model"));
  }

  async function look() {
    found.replaceChildren(h("p", { class: "none" }, "Looking for Ollama, llama.cpp, vLLM and LM Studio …"));
    try {
      const { servers } = await ask("/bench/model/servers");
      found.replaceChildren(...(servers.length ? servers.map(serverRow) : [h("p", { class: "none" }, "No model server was found: Ollama, llama.cpp, vLLM and LM Studio are seen when they run.")]), h("button", { type: "button", onclick: look }, "Look again"));
    } catch (error) {
      found.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  }

  function serverRow({ kind, url, models }) {
    const model = h("select", { "aria-label": `Model of ${kind}` }, models.map((one) => h("option", { value: one }, one)));
    const use = () => run(`Trying ${model.value} …`, "POST", { server: url, model: model.value });
    return h("div", { class: "server" }, h("p", {}, h("b", {}, kind), ` at ${url}`), model, h("button", { type: "button", class: "primary", onclick: use }, "Use it"));
  }

  // Who gave a key is mostly to be seen from it.
  function recognise() {
    const pasted = key.value.trim();
    const of = state.presets.find((one) => one.key_looks && new RegExp(one.key_looks).test(pasted));
    if (of && of.key !== preset.value) {
      preset.value = of.key;
      offer();
    }
  }

  function offer() {
    const chosen = state.presets.find((one) => one.key === preset.value);
    name.value = chosen.model;
    page.replaceChildren(...(/^https:\/\/\S+$/.test(chosen.key_page) ? ["Keys: ", h("a", { href: chosen.key_page, target: "_blank", rel: "noopener" }, chosen.key_page)] : [chosen.key_page && `Keys: ${chosen.key_page}`]));
    further.replaceChildren(...chosen.asks.map((one) => h("label", {}, one.question, h("input", { name: one.name, value: one.value, required: true, autocomplete: "off", spellcheck: "false" }))));
  }

  function chooseKey(event) {
    event.preventDefault();
    const told = Object.fromEntries([...further.querySelectorAll("input")].map((one) => [one.name, one.value]));
    run(`Trying ${name.value} …`, "POST", { preset: preset.value, model: name.value, key: key.value, further: told });
  }

  async function run(doing, method, body) {
    problem.textContent = "";
    now.textContent = doing;
    dialog.classList.add("is-trying");
    for (const one of dialog.querySelectorAll("button:not(.sheet-head button), input, select")) one.disabled = true;
    try {
      const told = await ask("/bench/model", { method, body });
      key.value = "";
      show(told, told.took === undefined ? "" : ` It answered in ${told.took} s; the worker was started again with it.`);
      app.toast(told.model ? `${told.model} answers from now on.` : "The demo model answers from now on.");
    } catch (error) {
      show(state);
      problem.textContent = error.message;
    } finally {
      dialog.classList.remove("is-trying");
      for (const one of dialog.querySelectorAll(":disabled")) one.disabled = false;
      app.renotice();
    }
  }

  function show(next, more = "") {
    const first = !state;
    state = next;
    opener.hidden = false;
    opener.textContent = state.model ? short(state.model) : DEMO;
    opener.title = state.model ? `${state.model} answers` : "The demo model answers";
    now.replaceChildren(state.model ? h("b", {}, state.model) : "The demo model", ` answers${state.where ? `, at ${state.where}` : ""}.${more}`);
    demo.hidden = !state.model || Boolean(state.fixed);
    choices.hidden = Boolean(state.fixed);
    if (state.fixed) now.append(` ${state.fixed}`);
    if (!first) return;
    const groups = Map.groupBy(state.presets, (one) => one.group);
    preset.replaceChildren(...[...groups].map(([group, ones]) => h("optgroup", { label: group }, ones.map((one) => h("option", { value: one.key }, one.title)))));
    offer();
  }

  return { refresh };
}

const short = (model) => (model.length > 18 ? `${model.slice(0, 17)}…` : model);
