// The group in the Telegram pane: the way between it and the private chat, and what only a group has.

import { act } from "/page/api.js";
import { h } from "/page/dom.js";

// `run(action, values)` does an act and says what went wrong; `moved` draws the pane anew.
export function groupRoom(app, run, moved) {
  let group = null;
  let state = null;
  const tab = (text, open) => h("button", { type: "button", role: "tab", "aria-selected": String(!open), onclick: () => go(open) }, text);
  const [chat, together] = [tab("Chat", false), tab("Group", true)];
  const tabs = h("div", { class: "tg-rooms", role: "tablist", "aria-label": "Telegram chats", hidden: true }, chat, together);
  const check = h("input", { type: "checkbox", name: "mention", checked: true });
  const name = h("span");
  const mention = h("label", { class: "mention-us", hidden: true }, check, name);
  const privacy = h("button", { type: "button", onclick: () => run("group_set", { privacy: !group.privacy }) });
  const presence = h("button", { type: "button", onclick: () => run("group_set", { removed: !group.left }) });
  const settings = h("div", { class: "tg-group-settings", hidden: true }, privacy, presence);
  const room = { open: false, who: "", tabs, mention, settings, of, say };

  function go(open) {
    room.open = open;
    moved();
  }

  // The group as a chat, if the person is in it and it is open; null for the private chat.
  function of(next) {
    state = next;
    group = state.group?.members[app.person.key] ? state.group : null;
    room.open &&= Boolean(group);
    tabs.hidden = !group;
    mention.hidden = settings.hidden = !room.open;
    chat.setAttribute("aria-selected", String(!room.open));
    together.setAttribute("aria-selected", String(room.open));
    if (!group) return null;
    together.textContent = group.title;
    name.textContent = `@${state.bot.username}`;
    privacy.textContent = group.privacy ? "Let the bot read all" : "Let the bot read what is for it only";
    presence.textContent = group.left ? "Add the bot again" : "Remove the bot";
    room.who = [...Object.keys(group.members).map((key) => app.people.find((one) => one.key === key)?.name.split(" ")[0] ?? key), ...(group.left ? [] : [state.bot.first_name])].join(", ");
    return room.open ? { ...state.people[app.person.key], ...group, started: true, blocked: false } : null;
  }

  function say(text, reply_to) {
    return act("telegram", "group_say", app.person.key, { text, reply_to, mention: check.checked });
  }

  return room;
}
