"""Acts on the emulated Telegram itself: its group, its switches, repeated deliveries, a second poller."""

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import groups
from workbench.simulator.telegram.act_arguments import flag, number, text
from workbench.simulator.telegram.chat_updates import Act, ChatUpdates, Wishes, settled_text
from workbench.simulator.telegram.entities import FormattedText
from workbench.simulator.telegram.formatting import MAX_TEXT
from workbench.simulator.telegram.polling import Polling
from workbench.simulator.telegram.state import SUPERGROUP, Chat
from workbench.simulator.telegram.updates import MESSAGE_LIFE


class ServiceActs:
    """The acts outside a person's own chat."""

    def __init__(self, chats: ChatUpdates, polling: Polling) -> None:
        self._chats = chats
        self._polling = polling

    def acts(self) -> dict[str, Act]:
        return {
            "group_open": self._group_open,
            "group_say": self._group_say,
            "group_edit": self._group_edit,
            "group_topic": self._group_topic,
            "group_set": self._group_set,
            "migrate": self._migrate,
            "set": self._set,
            "redeliver": self._redeliver,
            "second_poller": self._second_poller,
        }

    def _redeliver(self, person: Person, wishes: Wishes) -> Json:
        """Deliver this person's last n updates (1 unless told) once more, under their old ids."""
        count = number(wishes, "n", 1)
        made = [update for update in self._chats.world.updates.made if update.person == person.key][-max(count, 1) :]
        if not made:
            raise BadAction("There is nothing to deliver again.")
        for update in made:
            self._chats.world.updates.again(update, MESSAGE_LIFE * self._chats.wire.config.pace)
        return {"update_ids": [update.update_id for update in made]}

    def _second_poller(self, _: Person, wishes: Wishes) -> Json:
        """Let another instance of the bot poll for some "seconds" (10 by default)."""
        self._polling.rival(float(number(wishes, "seconds", 10)))
        return {"ok": True}

    def _set(self, person: Person, wishes: Wishes) -> Json:
        """Switch "deactivated" (this person's account is gone) or "held" (Telegram delays all updates)."""
        if strange := set(wishes) - {"deactivated", "held"}:
            raise BadAction(f"Telegram has no switch {', '.join(sorted(strange))}.")
        if "deactivated" in wishes:
            self._chats.chat(person).deactivated = flag(wishes, "deactivated")
        if "held" in wishes:
            self._chats.world.updates.held = flag(wishes, "held")
            self._chats.world.updates.tell()
        return {"held": self._chats.world.updates.held}

    def _group_say(self, person: Person, wishes: Wishes) -> Json:
        """Write in a group with the bot; "mention" puts its @name before the text.

        "topic": in that topic of a forum. "anonymous": as an administrator in the group's name.
        """
        content = settled_text(text(wishes, "text"), MAX_TEXT)
        if flag(wishes, "mention"):
            content = settled_text(f"@{self._chats.world.bot.bot_username} {content.text}", MAX_TEXT)
        chat, topic = self._group(person), number(wishes, "topic", 0)
        if topic and topic not in chat.topics:
            raise BadAction("There is no such topic.")
        if flag(wishes, "anonymous") and not groups.runs(chat, person):
            raise BadAction("Only an administrator can be anonymous.")
        message = self._chats.post(chat, person, content, reply_to=self._chats.replied(chat, wishes))
        message.thread, message.anonymous = topic, flag(wishes, "anonymous")
        message.unheard = chat.left or not groups.reaches_bot(self._chats.world, chat, message)
        if message.unheard:
            return {"chat_id": chat.chat_id, "message_id": message.message_id, "update_id": None}
        return self._chats.tell(chat, person, message)

    def _group_open(self, person: Person, wishes: Wishes) -> Json:
        """Make the group, of this person, who runs it, the bot, and "members" by their keys."""
        if self._chats.world.group_id:
            raise BadAction("There is a group already.")
        keys = wishes.get("members", [])
        named = (
            [self._chats.wire.config.person(key) for key in keys if isinstance(key, str)]
            if isinstance(keys, list)
            else []
        )
        members = [member for member in named if member is not None]
        if not isinstance(keys, list) or len(members) != len(keys):
            raise BadAction('"members" must be a list of people\'s keys.')
        chat = self._group(person)
        for member in members:
            groups.join(chat, member)
        return {"chat_id": chat.chat_id, "title": chat.title}

    def _group(self, person: Person) -> Chat:
        """Return the group with this person and the bot in it, begun if need be."""
        chat = self._chats.world.chats.get(self._chats.world.group_id)
        if chat is None:
            chat = groups.create(self._chats.world)
            self._chats.tell_member(chat, person, "left", "member")
        groups.join(chat, person)
        return chat

    def _group_edit(self, person: Person, wishes: Wishes) -> Json:
        """Change the "text" of a message of one's own in the group."""
        chat = self._group(person)
        message = chat.messages.get(number(wishes, "message_id"))
        if message is None or message.sender != person.telegram_user:
            raise BadAction("A person can edit only a text of their own.")
        message.text, message.edited = settled_text(text(wishes, "text"), MAX_TEXT), self._chats.world.date()
        if not groups.reaches_bot(self._chats.world, chat, message):
            return {"chat_id": chat.chat_id, "message_id": message.message_id, "update_id": None}
        return self._chats.tell(chat, person, message, "edited_message")

    def _group_topic(self, person: Person, wishes: Wishes) -> Json:
        """Begin a topic by its "name", which makes a forum of a supergroup; return its number."""
        chat = self._group(person)
        if chat.kind != SUPERGROUP:
            raise BadAction("Only a supergroup has topics: migrate the group first.")
        message = self._chats.post(chat, person, FormattedText(""))
        groups.begin_topic(chat, message, text(wishes, "name"))
        return self._chats.tell(chat, person, message)

    def _group_set(self, person: Person, wishes: Wishes) -> Json:
        """Change the "title" or "privacy" (the bot's mode), make this person "admin", or have the bot "removed"."""
        if strange := set(wishes) - {"title", "removed", "admin", "privacy"}:
            raise BadAction(f"A group has no {', '.join(sorted(strange))}.")
        chat = self._group(person)
        if "privacy" in wishes:
            self._chats.world.privacy = flag(wishes, "privacy")
        if "admin" in wishes:
            chat.members[person.telegram_user] = "administrator" if flag(wishes, "admin") else "member"
        if "title" in wishes:
            chat.title = text(wishes, "title")
            message = self._chats.post(chat, person, FormattedText(""))
            message.service = {"new_chat_title": chat.title}
            self._chats.tell(chat, person, message)
        if "removed" in wishes and chat.left != flag(wishes, "removed"):
            chat.left = not chat.left
            self._chats.tell_member(chat, person, *(("member", "kicked") if chat.left else ("left", "member")))
        return {"chat_id": chat.chat_id, "title": chat.title, "left": chat.left}

    def _migrate(self, person: Person, _: Wishes) -> Json:
        """Turn the group into a supergroup, with a new id."""
        chat = self._chats.world.chats.get(self._chats.world.group_id)
        if chat is None or chat.migrated_to:
            raise BadAction("There is no small group to migrate; say something in one first.")
        upgraded = groups.upgrade(self._chats.world, chat)
        for place, service in (
            (chat, {"migrate_to_chat_id": upgraded.chat_id}),
            (upgraded, {"migrate_from_chat_id": chat.chat_id}),
        ):
            message = self._chats.post(place, person, FormattedText(""))
            message.service = {**service}
            self._chats.tell(place, person, message)
        return {"chat_id": upgraded.chat_id}
