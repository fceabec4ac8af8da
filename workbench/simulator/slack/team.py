"""auth.test, users.info, users.lookupByEmail, users.list, team.info, bots.info, apps.connections.open."""

from urllib.parse import urlencode

from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.method import Hub, Method, truth
from workbench.simulator.slack.records import bot_record, locale_of, user_record
from workbench.simulator.slack.shapes import Obj, text


def auth_test(hub: Hub, _: Obj) -> Obj:
    slack = hub.world.config.slack
    return {
        "ok": True,
        "url": f"https://{slack.team_name.lower()}.slack.com/",
        "team": slack.team_name,
        "user": slack.bot_name,
        "team_id": slack.team_id,
        "user_id": slack.bot_user,
        "bot_id": slack.bot_id,
        "is_enterprise_install": False,
    }


def user_info(hub: Hub, arguments: Obj) -> Obj:
    user = text(arguments.get("user"))
    if user == hub.world.config.slack.bot_user:
        return {"ok": True, "user": bot_record(hub.world)}
    person = hub.world.person(user)
    if person is None:
        raise Refusal("user_not_found")
    # docs.slack.dev, reference/methods/users.info: the locale is returned only on request.
    told: Obj = {"locale": locale_of(person)} if truth(arguments.get("include_locale")) else {}
    return {"ok": True, "user": user_record(hub.world, person) | told}


def find_user_by_email(hub: Hub, arguments: Obj) -> Obj:
    # docs.slack.dev, reference/methods/users.lookupByEmail: users_not_found, for deactivated users too.
    email = text(arguments.get("email")).strip().lower()
    people = (p for p in hub.world.config.everyone if p.mail == email and p.slack_user not in hub.world.disabled)
    person = next(people, None)
    if person is None:
        raise Refusal("users_not_found")
    return {"ok": True, "user": user_record(hub.world, person)}


def list_users(hub: Hub, _: Obj) -> Obj:
    people = [user_record(hub.world, person) for person in hub.world.config.everyone]
    return {"ok": True, "members": [*people, bot_record(hub.world)], "response_metadata": {"next_cursor": ""}}


def team_info(hub: Hub, _: Obj) -> Obj:
    slack = hub.world.config.slack
    domain = slack.team_name.lower()
    return {"ok": True, "team": {"id": slack.team_id, "name": slack.team_name, "domain": domain}}


def bot_info(hub: Hub, arguments: Obj) -> Obj:
    slack = hub.world.config.slack
    if text(arguments.get("bot")) not in ("", slack.bot_id):
        raise Refusal("bot_not_found")
    bot: Obj = {"id": slack.bot_id, "deleted": False, "name": slack.bot_name, "app_id": slack.app_id}
    return {"ok": True, "bot": bot | {"user_id": slack.bot_user}}


def open_connection(hub: Hub, _: Obj) -> Obj:
    query = urlencode({"ticket": hub.deliverer.sockets.ticket(), "app_id": hub.world.config.slack.app_id})
    return {"ok": True, "url": f"{hub.url().replace('http', 'ws', 1)}/slack/socket?{query}"}


METHODS = {
    "auth.test": Method(auth_test),
    "users.info": Method(user_info, ("users:read",), ("user",), json=False),
    "users.lookupByEmail": Method(find_user_by_email, ("users:read.email",), ("email",), json=False),
    "users.list": Method(list_users, ("users:read",), json=False),
    "team.info": Method(team_info, ("team:read",)),
    "bots.info": Method(bot_info, ("users:read",), json=False),
    "apps.connections.open": Method(open_connection, post_only=True, app_token=True),
}
