// Make and keep elements. Text only ever becomes text nodes: nothing here parses HTML.

export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const kept = new WeakMap();

// Make the children of `container` show `items` in order, rebuilding only those whose JSON changed.
export function sync(container, items, key, build) {
  const before = kept.get(container) ?? new Map();
  const after = new Map();
  let next = container.firstChild;
  for (const item of items) {
    const name = String(key(item));
    const json = JSON.stringify(item);
    const known = before.get(name);
    const node = known?.json === json ? known.node : build(item);
    node.dataset.key = name;
    if (known && known.node !== node) {
      const focus = focusWithin(known.node);
      if (next === known.node) next = known.node.nextSibling;
      keepPlaying(known.node, node);
      known.node.replaceWith(node);
      if (focus) (node.querySelector(focus) ?? node.querySelector("button"))?.focus({ preventScroll: true });
    }
    if (node !== next) container.insertBefore(node, next);
    else next = node.nextSibling;
    after.set(name, { json, node });
    before.delete(name);
  }
  for (const { node } of before.values()) node.remove();
  kept.set(container, after);
  return after;
}

// A sound that is drawn again goes on: its player moves over, which stops none within the same task.
function keepPlaying(old, node) {
  for (const player of old.querySelectorAll("audio, video")) [...node.querySelectorAll(player.localName)].find((one) => one.src === player.src)?.replaceWith(player);
}

function focusWithin(node) {
  const active = document.activeElement;
  if (!node.contains(active)) return "";
  return active.dataset.focus ? `[data-focus="${CSS.escape(active.dataset.focus)}"]` : "button";
}

export function clock(seconds, timezone) {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: timezone }).format(
    new Date(seconds * 1000),
  );
}

export function initials(name) {
  return name.split(/\s+/).slice(0, 2).map((word) => word[0] ?? "").join("").toUpperCase();
}

export function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

const announced = [];

// Say something to a screen reader, once.
export function announce(text) {
  const line = h("p", {}, text.slice(0, 300));
  document.getElementById("announcer").append(line);
  announced.push(line);
  while (announced.length > 5) announced.shift().remove();
}

// One drawer lies beside the chats at a time; without one, whatever is open closes.
export function showDrawer(dialog = null) {
  for (const other of document.querySelectorAll(".drawer[open]:not(:modal)")) if (other !== dialog) other.close();
  if (dialog && !dialog.open) dialog.show();
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
