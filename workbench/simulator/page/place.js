// Where a person is, sent from a small form: degrees, and what the place is called. A live place is moved by the same form.

import { h } from "/page/dom.js";
import { pin } from "/page/file.js";

const LIVE_SECONDS = 900;

// `send` and `move` take latitude, longitude, and perhaps accuracy; `send` perhaps title, address and live, `move` the
// message_id of a live place. `root.moves(message)` opens the form to move one.
export function placeForm(send, move) {
  let moved = null;
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const field = (name, value, more = {}) => h("input", { name, value, ...more });
  const degrees = (limit) => ({ type: "number", step: "any", min: -limit, max: limit, required: true });
  const latitude = field("latitude", "51.5014", degrees(90));
  const longitude = field("longitude", "-0.1419", degrees(180));
  const accuracy = field("accuracy", "", { type: "number", min: 0, max: 1500 });
  const title = field("place-name", "");
  const address = field("place-address", "");
  const live = field("live", "on", { type: "checkbox" });
  // Telegram sends a name only as that of a place with an address, and shares no such place live.
  title.addEventListener("input", () => {
    address.required = live.disabled = Boolean(title.value.trim());
    if (live.disabled) live.checked = false;
  });
  const labelled = (label, one) => h("label", {}, label, one);
  const onlyNew = [labelled("Name, if it has one", title), labelled("Address, with a name", address), h("label", { class: "tick" }, live, "Share it live for 15 minutes")];
  const button = h("button", { class: "primary" });
  const form = h("form", { class: "place", "aria-label": "Send a location" }, labelled("Latitude", latitude), labelled("Longitude", longitude), labelled("Accuracy in metres", accuracy), onlyNew, problem, button);
  const root = h("details", { class: "commands where" }, h("summary", { "aria-label": "Send a location", title: "Send a location" }, pin()), form);

  function set(message) {
    moved = message;
    for (const one of onlyNew) one.hidden = Boolean(message);
    button.textContent = message ? "Move the location" : "Send the location";
    problem.hidden = true;
  }
  set(null);
  root.addEventListener("toggle", () => root.open || set(null));

  root.moves = (message) => {
    set(message);
    latitude.value = message.service.location.latitude;
    longitude.value = message.service.location.longitude;
    root.open = true;
    latitude.focus();
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const named = title.value.trim() ? { title: title.value.trim(), address: address.value.trim() } : {};
    const where = { latitude: latitude.value, longitude: longitude.value, accuracy: accuracy.value };
    try {
      if (moved) await move({ ...where, message_id: moved.message_id });
      else await send({ ...where, ...named, ...(live.checked ? { live: LIVE_SECONDS } : {}) });
      root.open = false;
      root.querySelector("summary").focus();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  });
  return root;
}
