// Where a person is, sent from a small form: degrees, and what the place is called.

import { h } from "/page/dom.js";
import { pin } from "/page/file.js";

// `send` takes latitude, longitude, and perhaps title and address.
export function placeForm(send) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const field = (label, value, more = {}) => h("input", { "aria-label": label, placeholder: label, value, ...more });
  const degrees = (limit) => ({ type: "number", step: "any", min: -limit, max: limit, required: true });
  const latitude = field("Latitude", "51.5014", degrees(90));
  const longitude = field("Longitude", "-0.1419", degrees(180));
  const title = field("Name (optional)", "");
  const address = field("Address (optional)", "");
  const form = h("form", { class: "place", "aria-label": "Send a location" }, latitude, longitude, title, address, problem, h("button", { class: "primary" }, "Send the location"));
  const root = h("details", { class: "commands where" }, h("summary", { "aria-label": "Send a location", title: "Send a location" }, pin()), form);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const named = title.value.trim();
    const where = address.value.trim();
    const venue = named || where ? { title: named || where, address: where || named } : {};
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
