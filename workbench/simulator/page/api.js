// The control API under /sim, and nothing else, is what this page talks to.

export async function ask(path, { method = "GET", body } = {}) {
  const answer = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const told = await answer.json().catch(() => ({ error: `The simulator answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(told.error ?? `The simulator answered ${answer.status}.`);
  return told;
}

export const act = (provider, action, person, values = {}) =>
  ask(`/sim/${provider}/${action}`, { method: "POST", body: { person, ...values } });

// Call `changed` after every change; `live` hears connecting, live, lost. It connects again for ever.
export function follow(changed, live) {
  const stream = new EventSource("/sim/events");
  stream.addEventListener("changed", () => {
    live("live");
    changed();
  });
  stream.addEventListener("error", () => {
    live("lost");
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(() => follow(changed, live), 2000);
  });
}

export function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}

// Browsers know the type of few files.
const TYPES = {
  heic: "image/heic", heif: "image/heif", csv: "text/csv", vcf: "text/vcard", ics: "text/calendar", oga: "audio/ogg", amr: "audio/amr",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

export const typeOf = (file) => file.type || TYPES[file.name.split(".").at(-1).toLowerCase()] || "application/octet-stream";
