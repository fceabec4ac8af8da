"""The commands about a person's consent: approvals of single actions, and standing consents."""

from typing import Annotated

import typer

from onevalet.cli.options import Json, Tenant, group
from onevalet.cli.runner import run_work

approvals_app = group("See pending approvals, and decide for people.")
consents_app = group("See what people let the assistant do without asking; end it.")


@approvals_app.command("list")
def list_approvals(tenant: Tenant = "", json: Json = False) -> None:
    """List pending approvals."""
    from onevalet.cli.approvals import print_approvals

    run_work(lambda settings: print_approvals(settings, tenant, as_json=json))


@approvals_app.command("decide")
def decide_approval(code: str, decision: str, tenant: Tenant = "", json: Json = False) -> None:
    """Decide for a person: approve or cancel; the audit records the operator."""
    from onevalet.cli.approvals import decide

    run_work(lambda settings: decide(settings, code, decision, tenant, as_json=json))


@consents_app.command("list")
def list_consents(tenant: Tenant = "", json: Json = False) -> None:
    """List a person's consents, by which the assistant acts without asking, and those that ended lately."""
    from onevalet.cli.approvals import print_consents

    run_work(lambda settings: print_consents(settings, tenant, as_json=json))


@consents_app.command("withdraw")
def withdraw_consent(
    number: Annotated[int, typer.Argument(help="The consent's number; `consents list` has it.")], tenant: Tenant = ""
) -> None:
    """End a consent, so that the person is asked again; they are told."""
    from onevalet.cli.approvals import withdraw

    run_work(lambda settings: withdraw(settings, number, tenant))
