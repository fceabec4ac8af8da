// Modals and the App Home.

import { act } from "/page/api.js";
import { h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { unescaped } from "/page/markdown.js";
import { buildBlocks } from "/page/slack/blocks.js";
import { fillForm, readForm } from "/page/slack/elements.js";

const TROUBLE = "We had some trouble connecting. Try again?";

// The modal on top of the stack, over the pane; what was entered outlives every redraw of the same modal.
export function modalLayer(app) {
  const root = h("div", { class: "modal-layer", hidden: true });
  let drawn = "";
  let open = "";
  let opener = null;

  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") root.querySelector("[data-close]")?.click();
    if (event.key === "Tab") keepInside(event);
  });

  function keepInside(event) {
    const all = [...root.querySelectorAll("button, input, select, textarea, a[href]")].filter((node) => !node.disabled);
    const edge = event.shiftKey ? all[0] : all.at(-1);
    if (document.activeElement !== edge) return;
    event.preventDefault();
    (event.shiftKey ? all.at(-1) : all[0]).focus();
  }

  function draw(views) {
    const view = views.at(-1);
    const json = JSON.stringify([app.person.key, view?.id, view?.hash, views.length]);
    if (json !== drawn) {
      const same = view && open === view.id;
      const values = same ? readForm(root) : {};
      root.replaceChildren(...(view ? [build(view)] : []));
      root.hidden = !view;
      for (const one of root.parentElement.children) if (one !== root) one.inert = Boolean(view);
      if (same) fillForm(root, values);
      else if (view) {
        if (!open) opener = document.activeElement;
        (root.querySelector("[data-block]") ?? root.querySelector("button"))?.focus({ preventScroll: true });
      } else if (open && opener?.isConnected) opener.focus({ preventScroll: true });
      [drawn, open] = [json, view?.id ?? ""];
    }
    for (const node of root.querySelectorAll("[data-error]")) {
      const error = view.errors[node.dataset.error] ?? "";
      if (node.textContent !== error) node.textContent = error;
    }
  }

  function build(view) {
    const problem = h("p", { class: "problem", role: "alert" });
    const run = async (action, values = {}) => {
      problem.textContent = "";
      try {
        const done = await act("slack", action, app.person.key, { view_id: view.id, ...values });
        if (done.ok === false) problem.textContent = `${TROUBLE} (${done.error})`;
      } catch (error) {
        problem.textContent = error.message;
      }
    };
    const close = () => run("close");
    return h(
      "form",
      {
        class: "modal",
        role: "dialog",
        "aria-modal": "true",
        "aria-label": unescaped(view.title?.text ?? "Modal"),
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          run("submit", { values: readForm(event.currentTarget) });
        },
      },
      h("header", {}, h("h3", {}, unescaped(view.title?.text ?? "")), h("button", { type: "button", "aria-label": "Close", "data-close": "", onclick: close }, icon("cross"))),
      h("div", { class: "modal-body" }, buildBlocks(view.blocks, (action, value) => run("press", { action_id: action, value }))),
      problem,
      h(
        "footer",
        {},
        h("button", { type: "button", class: "element wire-link", onclick: () => app.choose({ provider: "slack", id: view.id }) }, "Wire"),
        h("button", { type: "button", class: "element", onclick: close }, unescaped(view.close?.text ?? "Cancel")),
        view.submit ? h("button", { class: "element primary" }, unescaped(view.submit.text)) : null,
      ),
    );
  }

  return { root, draw };
}

export function homeTab(app) {
  const root = h("div", { class: "home", role: "tabpanel", "aria-label": "Home", hidden: true, tabindex: "0" });
  let drawn = "";

  function draw(view) {
    const json = JSON.stringify([app.person.key, view]);
    if (json === drawn) return;
    drawn = json;
    if (!view) {
      root.replaceChildren(h("p", { class: "empty" }, "The app has not published a Home tab for this person yet."));
      return;
    }
    const press = async (action, value) => {
      try {
        await act("slack", "press", app.person.key, { view_id: view.id, action_id: action, value });
      } catch (error) {
        app.toast(error.message);
      }
    };
    root.replaceChildren(...buildBlocks(view.blocks, press), h("p", { class: "home-wire" }, h("button", { type: "button", class: "element wire-link", onclick: () => app.choose({ provider: "slack", id: view.id }) }, "Wire")));
  }

  return { root, draw };
}
