// Where a person is, sent from a small form: degrees, and what the place is called.

import { h } from "/page/dom.js";
import { pin } from "/page/file.js";

// `send` takes latitude, longitude, and perhaps title and address.
export function placeForm(send) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const field = (name, value, more = {}) => h("input", { name, value, ...more });
  const degrees = (limit) => ({ type: "number", step: "any", min: -limit, max: limit, required: true });
  const latitude = field("latitude", "51.5014", degrees(90));
  const longitude = field("longitude", "-0.1419", degrees(180));
  const title = field("place-name", "");
  const address = field("place-address", "");
  // Telegram sends a name only as that of a place with an address.
  title.addEventListener("input", () => (address.required = Boolean(title.value.trim())));
  const labelled = { Latitude: latitude, Longitude: longitude, "Name, if it has one": title, "Address, with a name": address };
  const labels = Object.entries(labelled).map(([label, one]) => h("label", {}, label, one));
  const form = h("form", { class: "place", "aria-label": "Send a location" }, labels, problem, h("button", { class: "primary" }, "Send the location"));
  const root = h("details", { class: "commands where" }, h("summary", { "aria-label": "Send a location", title: "Send a location" }, pin()), form);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const venue = title.value.trim() ? { title: title.value.trim(), address: address.value.trim() } : {};
    try {
      await send({ latitude: latitude.value, longitude: longitude.value, ...venue });
      root.open = false;
      root.querySelector("summary").focus();
      problem.hidden = true;
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  });
  return root;
}
