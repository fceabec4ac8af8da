// A file in a bubble: a picture is drawn, sound can be played, anything else is a card. Each opens in a tab of its own.

import { h, size } from "/page/dom.js";

const DRAWN = /^image\/(jpeg|png|gif|webp|avif|bmp)$/;
const KINDS = [
  [/^image\//, "Picture"],
  [/^audio\//, "Sound"],
  [/^video\//, "Video"],
  [/pdf$/, "PDF"],
  [/wordprocessing|msword/, "Word document"],
  [/spreadsheet|excel|\/csv$/, "Table"],
  [/calendar/, "Calendar"],
  [/vcard/, "Contact"],
];

// `file` has `name`, `content_type`, `size` and `url`; what is not known is empty.
export function fileCard(file) {
  const url = address(file.url);
  const local = url?.origin === location.origin;
  if (local && DRAWN.test(file.content_type)) return picture(file, url);
  if (local && /^audio\//.test(file.content_type)) return sound(file, url);
  return card(file, url);
}

function picture(file, url) {
  const image = h("img", { class: "picture", src: url.href, alt: file.name ? `Picture: ${file.name}` : "A picture in the message" });
  const link = h("a", { class: "picture-link", href: url.href, target: "_blank", rel: "noopener noreferrer", "data-focus": url.href }, image);
  image.addEventListener("error", () => link.replaceWith(card(file, url)));
  return link;
}

function sound(file, url) {
  const player = h("audio", { controls: true, preload: "metadata", src: url.href, "aria-label": file.name || "Sound" });
  return h("div", { class: "sound" }, player, card(file, url));
}

function card(file, url) {
  const [, kind] = KINDS.find(([pattern]) => pattern.test(file.content_type)) ?? [null, "File"];
  const about = [kind, file.size ? size(file.size) : url && url.origin !== location.origin ? url.host : ""].filter(Boolean).join(", ");
  const inside = [badge(ending(file.name) || kind.slice(0, 4)), h("span", { class: "file-about" }, h("b", { title: file.name }, file.name || kind), h("small", {}, about))];
  if (!url) return h("p", { class: "file" }, inside);
  return h("a", { class: "file", href: url.href, target: "_blank", rel: "noopener noreferrer", "data-focus": url.href }, inside);
}

// The sign of a place, drawn by the style: not every machine has a glyph for it.
export function pin() {
  return h("span", { class: "pin", "aria-hidden": "true" });
}

// Where a place is: its words, and a map.
export function placeCard({ location: place, venue }) {
  const degrees = `${place.latitude}, ${place.longitude}`;
  const map = `https://www.openstreetmap.org/?mlat=${place.latitude}&mlon=${place.longitude}#map=16/${place.latitude}/${place.longitude}`;
  const words = h("span", { class: "file-about" }, h("b", {}, venue?.title ?? (place.live_period ? "Live location" : "Location")), h("small", {}, [venue?.address, degrees].filter(Boolean).join(" · ")));
  return h("a", { class: "file", href: map, target: "_blank", rel: "noopener noreferrer" }, h("span", { class: "file-icon", "aria-hidden": "true" }, pin()), words);
}

// Letters, since not every machine has pictures among its letters.
const badge = (letters) => h("span", { class: "file-icon", "aria-hidden": "true" }, letters.toUpperCase());

const ending = (name = "") => /\.([a-z0-9]{1,4})$/i.exec(name)?.[1] ?? "";

function address(url) {
  try {
    const found = new URL(url, location.href);
    return ["http:", "https:"].includes(found.protocol) && url ? found : null;
  } catch {
    return null;
  }
}
