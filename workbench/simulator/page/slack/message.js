// One message of the Slack conversation.

import { act } from "/page/api.js";
import { clock, h, initials, plural } from "/page/dom.js";
import { fileCard } from "/page/file.js";
import { icon } from "/page/icons.js";
import { markdown, mrkdwn } from "/page/markdown.js";
import { letIn } from "/page/pairing.js";
import { thumbs } from "/page/reactions.js";
import { buildBlocks } from "/page/slack/blocks.js";
import { tool, tools } from "/page/thread.js";

const OUTCOMES = {
  http_timeout: "no answer within 3 s", operation_timeout: "no answer within 3 s", timeout: "no answer within 3 s",
  connection_failed: "no connection", http_error: "refused", no_connection: "no socket is open",
};
// Drawn, since not every machine has these among its letters.
const REACTIONS = { eyes: "eyes", white_check_mark: "tick", x: "cross", "+1": "thumb", thumbsup: "thumb", "-1": "thumb_down", heart: "heart" };
const NAMES = { "👍": "+1", "👎": "-1" };
const TASKS = { pending: "waiting", in_progress: "play", complete: "sent", error: "cross" };

export const told = (reason) => OUTCOMES[reason] ?? reason.replace(/^http_error_/, "HTTP ");

// `item` is a bubble with `who`, `timezone`, `grouped`, `replies`, `status`, `trouble`; `pane` opens threads.
export function buildMessage(item, app, pane) {
  const press = async (action, value) => {
    try {
      const done = await act("slack", "press", app.person.key, { ts: item.ts, channel: pane.channel(), action_id: action, value });
      if (done.ok === false) app.toast(`The app did not respond: ${told(done.error)}.`);
    } catch (error) {
      app.toast(error.message);
    }
  };
  const more = [];
  if (!item.ephemeral && !item.thread_ts && !pane.inThread) more.push(tool("Reply", () => pane.openThread(item.ts)));
  const react = (emoji, taken) => pane.react(item, NAMES[emoji], taken);
  const own = Object.keys(NAMES).filter((emoji) => item.reactions[NAMES[emoji]]?.includes(item.user));
  if (item.from === "bot" && !item.ephemeral && item.user) more.push(thumbs(own, react));
  if (item.mine && pane.edit) more.push(tool("Edit", () => pane.edit(item)));
  if (item.mine) more.push(tool("Delete", () => pane.remove(item)));
  const ours = item.from === "bot";
  const face = h("span", { class: `face ${ours ? "bot" : ""}`, "aria-hidden": "true" }, initials(item.who));
  const name = h("p", { class: "by" }, h("strong", {}, item.who), ours ? h("small", { class: "app-badge" }, "APP") : null, h("time", {}, clock(Number(item.ts), item.timezone)));
  const body = h(
    "article",
    { class: "bubble", "data-about": item.ts },
    item.ephemeral ? h("p", { class: "only-you" }, "Only visible to you") : null,
    item.grouped ? null : name,
    content(item, press),
    item.tasks.length ? h("ul", { class: "tasks" }, item.tasks.map((task) => h("li", { "data-state": task.status }, TASKS[task.status] ? icon(TASKS[task.status]) : null, ` ${task.title}`))) : null,
    item.files.map(fileCard),
    item.edited ? h("small", { class: "edited" }, "(edited)") : null,
    Object.keys(item.reactions).length ? h("p", { class: "reactions" }, Object.keys(item.reactions).map((one) => h("span", { title: `:${one}:` }, REACTIONS[one] ? icon(REACTIONS[one], one) : `:${one}:`))) : null,
    item.trouble ? h("p", { class: "trouble" }, icon("cross"), ` ${item.trouble}`) : null,
  );
  const replies = item.replies && !pane.inThread ? h("button", { type: "button", class: "replies", "data-focus": "replies", onclick: () => pane.openThread(item.ts) }, plural(item.replies, "reply").replace("replys", "replies")) : null;
  const status = item.status ? h("p", { class: "status-line" }, `${item.who === app.botName ? "" : `${app.botName} `}${item.status}`) : null;
  return h(
    "li",
    { class: `${item.mine ? "mine" : "theirs"}${item.grouped ? " is-grouped" : ""}${item.ephemeral ? " is-ephemeral" : ""}${item.streaming ? " is-streaming" : ""}` },
    item.grouped ? h("time", { class: "gutter" }, clock(Number(item.ts), item.timezone)) : face,
    h("div", { class: "right" }, body, letIn(item, app), replies, status),
    tools(app.choose, "slack", item.ts, ...more),
  );
}

function content(item, press) {
  if (item.mine || item.from !== "bot") return item.text ? h("p", { class: "said" }, item.text) : null;
  const own = item.markdown ? markdown(item.fallback) : null;
  if (item.blocks.length) return [own, buildBlocks(item.blocks, press)];
  return own ?? (item.fallback ? mrkdwn(item.fallback) : null);
}
