"""The pages that have a file of their own, for `routes` to serve."""

from onevalet.console.pages.accounts import AccountPages
from onevalet.console.pages.approvals import ApprovalPages
from onevalet.console.pages.base import Pages
from onevalet.console.pages.consents import ConsentPages
from onevalet.console.pages.cost import CostPages
from onevalet.console.pages.data import DataPages
from onevalet.console.pages.deliveries import DeliveryPages
from onevalet.console.pages.linking import LinkPages
from onevalet.console.pages.people import PeoplePages
from onevalet.console.pages.person import PersonPages
from onevalet.console.pages.programs import ProgramPages
from onevalet.console.pages.search import SearchPages
from onevalet.console.pages.waiting import WaitingPages

PAGES: tuple[type[Pages], ...] = (
    WaitingPages,
    ApprovalPages,
    DeliveryPages,
    PeoplePages,
    PersonPages,
    LinkPages,
    AccountPages,
    ConsentPages,
    ProgramPages,
    SearchPages,
    CostPages,
    DataPages,
)
