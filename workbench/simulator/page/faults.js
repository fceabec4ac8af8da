// The drawer of faults: make an endpoint of an emulated provider misbehave.

import { ask } from "/page/api.js";
import { h, plural } from "/page/dom.js";
import { icon } from "/page/icons.js";

const KINDS = {
  rate_limit: "Rate limit (429)",
  server_error: "Server error, not accepted",
  server_error_after: "Server error, accepted all the same",
  timeout_before: "No answer, not accepted",
  timeout_after: "No answer, accepted all the same",
  reset_before: "Connection reset, not accepted",
  reset_after: "Connection reset, accepted all the same",
  page: "A proxy's page, not accepted",
  page_after: "A proxy's page, accepted all the same",
  empty: "An empty answer, not accepted",
  huge: "20 MB of junk, not accepted",
  redirect: "A redirect, not accepted",
  drip: "An answer that never ends, not accepted",
};

export function faultsDrawer(dialog, app) {
  const endpoint = h("input", { name: "endpoint", required: true, list: "endpoints", value: "twilio.messages.create", autocomplete: "off", spellcheck: "false" });
  const known = h("datalist", { id: "endpoints" });
  const kind = h("select", { name: "kind" }, Object.entries(KINDS).map(([value, text]) => h("option", { value }, text)));
  const times = h("input", { name: "times", type: "number", min: "0", max: "1000", value: "1", required: true });
  const seconds = h("input", { name: "seconds", type: "number", min: "0", max: "600", step: "0.5", value: "2", required: true });
  const problem = h("p", { class: "problem", role: "alert" });
  const rules = h("ul", { class: "rules" });
  const clear = h("button", { type: "button", onclick: () => run("DELETE") }, "Clear all");
  const form = h(
    "form",
    { class: "fault-form", onsubmit: add },
    h("label", {}, "Endpoint, * for any part", endpoint),
    known,
    h("label", {}, "What happens", kind),
    h("div", { class: "pair" }, h("label", {}, "Times (0: until cleared)", times), h("label", {}, "Seconds (wait, hang)", seconds)),
    problem,
    h("button", { class: "primary" }, "Add the fault"),
  );
  const close = h("form", { method: "dialog", class: "sheet-head" }, h("h2", { id: "faults-title" }, "Faults"), h("button", { "aria-label": "Close" }, icon("cross")));
  dialog.append(close, h("p", {}, "The emulated providers misbehave as told, in their own words. The assistant has to cope."), form, h("h3", {}, "In force"), rules, clear);

  function add(event) {
    event.preventDefault();
    run("POST", { endpoint: endpoint.value.trim(), kind: kind.value, times: Number(times.value), seconds: Number(seconds.value) });
  }

  async function run(method, body) {
    problem.textContent = "";
    try {
      show(await ask("/sim/faults", { method, body }));
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function show(list) {
    app.showFaultCount(list.length);
    clear.hidden = !list.length;
    rules.replaceChildren(
      ...list.map((rule) => h("li", {}, h("code", {}, rule.endpoint), ` ${KINDS[rule.kind]}, ${rule.times ? plural(rule.times, "time") : "until cleared"}`)),
      ...(list.length ? [] : [h("li", { class: "none" }, "None: all is well.")]),
    );
  }

  return {
    refresh: async () => show(await ask("/sim/faults")),
    endpoints: (names) => known.replaceChildren(...names.map((value) => h("option", { value }))),
  };
}
