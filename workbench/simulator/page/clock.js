// People's time: shown in the bar, stopped, run fast, and moved ahead.

import { ask } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";

const SPEEDS = { 0: "Stopped", 1: "As it is", 60: "A minute a second", 3600: "An hour a second" };
const JUMPS = [["+10 min", 600], ["+1 h", 3600], ["+1 day", 86_400]];
const TICK_MS = 500;

export function clockPanel(root, app) {
  let state = null;
  let seenAt = 0;
  const day = h("span", { class: "day" });
  const time = h("span");
  const shown = h("b", {}, day, time);
  const speed = h("span", { class: "speed" });
  const summary = h("summary", { title: "Move time" }, icon("waiting"), shown, speed);
  const speeds = h("div", { class: "speeds", role: "group", "aria-label": "How fast time runs" });
  const jumps = h("div", { class: "speeds" }, JUMPS.map(([text, seconds]) => h("button", { type: "button", onclick: () => move({ seconds }) }, text)));
  const when = h("input", { type: "datetime-local", name: "when", required: true });
  const jump = h("form", { onsubmit: jumpTo }, h("label", {}, "Jump to", when), h("button", { class: "primary" }, "Jump"));
  const real = h("button", { type: "button", onclick: () => move({ real: true }) }, "Back to the real time");
  const problem = h("p", { class: "problem", role: "alert" });
  root.append(summary, h("div", {}, h("p", { class: "soft" }, "Reminders, schedules, quiet hours and expiry follow this clock."), speeds, jumps, jump, real, problem));
  root.addEventListener("toggle", () => {
    if (root.open && state) when.value = local(now() + 3600);
  });
  setInterval(draw, TICK_MS);

  async function move(body) {
    problem.textContent = "";
    try {
      take(await ask("/bench/clock", { method: "POST", body }));
      app.moved();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function jumpTo(event) {
    event.preventDefault();
    move({ to: instant(when.value) });
  }

  async function refresh() {
    take(await ask("/bench/clock"));
  }

  function take(next) {
    state = next;
    seenAt = performance.now();
    root.classList.toggle("is-moved", state.rate !== 1 || Math.abs(state.ahead) > 5);
    real.hidden = state.rate === 1 && Math.abs(state.ahead) < 5;
    speeds.replaceChildren(
      ...state.rates.map((rate) => h("button", { type: "button", "aria-pressed": String(rate === state.rate), onclick: () => move({ rate }) }, rate === 0 ? icon("pause") : icon("play"), ` ${SPEEDS[rate]}`)),
    );
    draw();
  }

  // People's time in Unix seconds.
  function now() {
    return state ? state.now + ((performance.now() - seenAt) / 1000) * state.rate : Date.now() / 1000;
  }

  function draw() {
    if (!state) return;
    const part = (options) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone: app.person.timezone }).format(new Date(now() * 1000));
    day.textContent = `${part({ weekday: "short" })} `;
    time.textContent = part({ hour: "2-digit", minute: "2-digit" });
    speed.textContent = state.rate === 1 ? "" : state.rate === 0 ? "stopped" : `×${state.rate}`;
  }

  // The field holds the person's own time, without a zone.
  function local(seconds) {
    const parts = Object.fromEntries(
      new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: app.person.timezone })
        .formatToParts(new Date(seconds * 1000))
        .map(({ type, value }) => [type, value]),
    );
    return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`;
  }

  function instant(value) {
    const guess = Date.parse(`${value}:00Z`);
    const shift = Date.parse(`${local(guess / 1000)}:00Z`) - guess;
    return new Date(guess - shift).toISOString();
  }

  return { refresh, now };
}
