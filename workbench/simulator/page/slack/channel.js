// The channel that everybody of the workspace is in with the app, once somebody has begun it.

import { act } from "/page/api.js";
import { h } from "/page/dom.js";
import { slackRoom } from "/page/slack/room.js";

export function channelTab(app, { remove, moved }) {
  let latest = null;
  const checks = [mentionCheck(), mentionCheck()];
  const acts = { channel: () => latest?.channel.id, remove: (item) => remove(item, latest.channel.id) };
  const members = h("p", { class: "members" });
  const room = slackRoom(app, {
    label: "Slack channel",
    title: "Channel",
    name: "slack-channel",
    placeholder: { label: "Message to the channel", text: "Message the channel" },
    send: (text, file) => say(text, file, "", checks[0]),
    say: (text, file, ts) => say(text, file, ts, checks[1]),
    acts,
    after: [checks[0].root],
    threadAfter: [checks[1].root],
    moved,
  });
  room.root.hidden = true;
  room.root.prepend(members);
  room.root.classList.add("in-group");

  async function say(text, file, thread, check) {
    if (file) throw new Error("Only words are sent to the simulated channel.");
    return act("slack", "channel_say", app.person.key, { text, mention: check.box.checked, thread_ts: thread || undefined });
  }

  function draw(state) {
    latest = state;
    const { bot } = state;
    for (const check of checks) check.name.textContent = `@${bot.name}`;
    members.textContent = [...app.people.map((one) => one.name.split(" ")[0]), bot.name].join(", ");
    room.draw(state.general.map((bubble) => asItem(bubble, state, app)));
  }

  return { ...room, draw };
}

function mentionCheck() {
  const box = h("input", { type: "checkbox", name: "mention", checked: true });
  const name = h("span");
  return { box, name, root: h("div", { class: "under" }, h("label", { class: "mention-us" }, box, name)) };
}

function asItem(bubble, { bot, general }, app) {
  const mine = bubble.from === app.person.key;
  const words = (text) => text.replaceAll(`<@${bot.user}>`, `@${bot.name}`);
  const from = app.people.find((one) => one.key === bubble.from);
  return {
    ...bubble,
    from: from ? bubble.from : "bot", // that it joined is said by its user
    text: words(bubble.text),
    fallback: words(bubble.fallback),
    mine,
    user: "",
    who: from?.name ?? bot.name,
    timezone: app.person.timezone,
    replies: general.filter((one) => one.thread_ts === bubble.ts).length,
    status: "",
    trouble: "",
  };
}
