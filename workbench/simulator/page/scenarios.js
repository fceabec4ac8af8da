// Scenarios: record what happens on the page, keep it as a file, and replay it on an installation of its own.

import { ask } from "/page/api.js";
import { h, plural, showDrawer } from "/page/dom.js";
import { icon } from "/page/icons.js";

const LOOK_MS = 1000;
const SPEEDS = { own: "As it was", fast: "Fast", step: "Step by step" };
const CHANNELS = { sms: "SMS", slack: "Slack", telegram: "Telegram" };

// `record` is the button in the bar: it begins a recording, and ends it.
export function scenariosDrawer(dialog, record, app) {
  let timer = 0;
  let state = null;
  let speed = "own";
  const label = h("span", {}, "Record");
  record.append(icon("record"), " ", label);
  record.addEventListener("click", () => (state?.recording ? stop() : run({ record: true })));
  const recording = h("div", { class: "drafts" });
  const speeds = h("div", { class: "speeds", role: "group", "aria-label": "How fast a replay goes" });
  const own = h("ul", { class: "scenarios" });
  const shipped = h("ul", { class: "scenarios" });
  const mine = h("h3", {}, "Yours");
  const problem = h("p", { class: "problem", role: "alert" });
  const busy = h("p", { class: "soft", role: "status" });
  const close = h("form", { method: "dialog", class: "sheet-head" }, h("h2", { id: "scenarios-title" }, "Scenarios"), h("button", { "aria-label": "Close" }, icon("cross")));
  dialog.append(
    close,
    h("p", {}, "A conversation in a file. It is replayed on an installation of its own, which begins with nothing, and ", h("code", {}, "pytest"), " runs it as a test."),
    recording,
    problem,
    busy,
    h("h3", {}, "Replay"),
    speeds,
    mine,
    own,
    h("h3", {}, "Shipped with OneValet"),
    shipped,
  );
  dialog.addEventListener("close", () => clearTimeout(timer));

  async function run(body) {
    problem.textContent = "";
    try {
      const told = await ask("/bench/scenarios", { method: "POST", body });
      show(told);
      return told;
    } catch (error) {
      problem.textContent = error.message;
      if (!dialog.open) app.toast(error.message);
      return null;
    }
  }

  async function stop() {
    if (await run({ stop: true })) open();
  }

  async function replay(name) {
    busy.textContent = "Starting an installation of its own; that takes a moment …";
    setReplays(true);
    const told = await run({ replay: name, speed });
    busy.textContent = "";
    setReplays(false);
    if (told) location.assign(told.address);
  }

  function setReplays(are) {
    for (const button of dialog.querySelectorAll(".replays")) button.disabled = are;
  }

  async function look() {
    clearTimeout(timer);
    try {
      show(await ask("/bench/scenarios"));
    } catch (error) {
      problem.textContent = error.message;
    }
    if (dialog.open || state?.recording) timer = setTimeout(look, LOOK_MS);
  }

  function show(next) {
    const before = JSON.stringify(state);
    state = next;
    record.classList.toggle("is-recording", state.recording);
    record.setAttribute("aria-pressed", String(state.recording));
    label.textContent = state.recording ? `Stop · ${plural(state.noted, "step")}` : "Record";
    if (state.recording && !timer) timer = setTimeout(look, LOOK_MS);
    if (before === JSON.stringify(state)) return;
    recording.replaceChildren(...(state.draft ? draft(state.draft) : state.recording ? going() : idle()));
    const [yours, others] = [state.scenarios.filter((one) => one.own), state.scenarios.filter((one) => !one.own)];
    mine.hidden = own.hidden = !yours.length;
    own.replaceChildren(...yours.map(row));
    shipped.replaceChildren(...others.map(row));
    drawSpeeds();
  }

  function drawSpeeds() {
    speeds.replaceChildren(
      ...Object.entries(SPEEDS).map(([name, text]) =>
        h("button", { type: "button", "aria-pressed": String(name === speed), onclick: () => { speed = name; drawSpeeds(); } }, text),
      ),
    );
  }

  function idle() {
    return [h("button", { type: "button", class: "primary", onclick: () => run({ record: true }) }, icon("record"), " Record what happens on the page")];
  }

  function going() {
    return [
      h("p", {}, "Write, press, send files, move the clock, set faults, break things. All of it is noted, and what comes of it."),
      h("button", { type: "button", class: "primary", onclick: stop }, icon("pause"), ` Stop · ${plural(state.noted, "step")}`),
    ];
  }

  function draft({ steps, left_out: leftOut, text }) {
    const title = h("input", { name: "scenario-title", required: true, maxlength: "80", placeholder: "Late for lunch", autocomplete: "off" });
    const keep = async (event) => {
      event.preventDefault();
      await run({ keep: "", title: title.value.trim() });
    };
    return [
      h(
        "form",
        { class: "fault-form", onsubmit: keep },
        h("label", {}, `${plural(steps, "step")} were recorded. What are they about?`, title),
        leftOut.length ? h("p", { class: "problem" }, `No scenario can hold this, so it is left out: ${leftOut.join("; ")}.`) : null,
        h("div", { class: "breaks" }, h("button", { class: "primary" }, "Save"), h("button", { type: "button", onclick: () => run({ discard: true }) }, "Throw away")),
      ),
      h("details", {}, h("summary", {}, "The file"), h("pre", { class: "json", tabindex: "0" }, text)),
    ];
  }

  function row(one) {
    const remove = one.own ? h("button", { type: "button", "aria-label": `Delete ${one.title}`, onclick: () => confirm(`Delete “${one.title}”?`) && run({ delete: one.name }) }, "Delete") : null;
    return h(
      "li",
      {},
      h("b", {}, one.title),
      one.error ? h("p", { class: "problem" }, one.error) : h("p", { class: "soft" }, one.about || one.path),
      h("small", {}, `${plural(one.steps, "step")}, ${one.channels.map((name) => CHANNELS[name]).join(", ")}`),
      h(
        "div",
        { class: "breaks" },
        one.error ? null : h("button", { type: "button", class: "replays", "aria-label": `Replay ${one.title}`, onclick: () => replay(one.name) }, icon("play"), " Replay"),
        h("a", { href: `/bench/scenarios/${encodeURIComponent(one.name)}`, download: "", "aria-label": `Download ${one.title}` }, "Download"),
        remove,
      ),
    );
  }

  function open() {
    showDrawer(dialog);
    look();
  }

  look();
  return { open };
}
