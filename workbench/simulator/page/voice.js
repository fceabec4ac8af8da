// A voice note: recorded with the browser's microphone, and sent as each provider's app sends one.

import { announce, h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { oggOf } from "/page/ogg.js";

const LONGEST_MS = 120_000;
const TICK_MS = 250;
const WEBM = "audio/webm;codecs=opus";
const WHY = { NotAllowedError: "The browser may not use the microphone: allow it for this page.", NotFoundError: "This machine has no microphone that the browser knows of." };

// `take(file)` gets the recording; `say(sentence)` shows why there is none.
export function recorder({ label, take, say }) {
  let recording = null;
  const button = h("button", { type: "button", class: "attach voice", "aria-label": `Record your voice: ${label}`, "aria-pressed": "false", title: "Record a voice note", onclick: () => (recording ? recording.stop() : begin()) }, icon("mic"));
  const time = h("span");
  const drop = h("button", { type: "button", "aria-label": "Throw the recording away", onclick: () => recording?.drop() }, icon("cross"));
  const line = h("p", { class: "chosen-file recording", hidden: true }, "Recording ", time, " ", drop);
  button.hidden = !globalThis.MediaRecorder?.isTypeSupported(WEBM);

  async function begin() {
    say("");
    button.disabled = true;
    try {
      show(await open());
    } catch (error) {
      say(WHY[error.name] ?? error.message);
    } finally {
      button.disabled = false;
    }
  }

  async function open() {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const media = new MediaRecorder(stream, { mimeType: WEBM });
    const pieces = [];
    let isWanted = true;
    media.addEventListener("dataavailable", (event) => pieces.push(event.data));
    media.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      show(null);
      if (isWanted) finish(new Blob(pieces));
    });
    media.start();
    const stop = () => media.state !== "inactive" && media.stop();
    return { begun: performance.now(), stop, drop: () => { isWanted = false; stop(); } };
  }

  async function finish(webm) {
    try {
      const { blob, seconds } = await oggOf(webm);
      const file = new File([blob], "voice.ogg", { type: "audio/ogg" });
      file.seconds = Math.max(1, Math.round(seconds));
      take(file);
      announce(`Recorded ${file.seconds} seconds`);
    } catch (error) {
      say(error.message);
    }
  }

  function show(next) {
    recording = next;
    line.hidden = !next;
    button.replaceChildren(icon(next ? "stop" : "mic"));
    button.setAttribute("aria-pressed", String(Boolean(next)));
    button.title = next ? "Stop, and attach it" : "Record a voice note";
    if (next) tick();
  }

  function tick() {
    if (!recording) return;
    const passed = performance.now() - recording.begun;
    time.textContent = `${Math.floor(passed / 60_000)}:${String(Math.floor(passed / 1000) % 60).padStart(2, "0")}`;
    if (passed > LONGEST_MS) recording.stop();
    else setTimeout(tick, TICK_MS);
  }

  return { button, line };
}
