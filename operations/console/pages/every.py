"""The pages that have a file of their own, for `routes` to serve."""

from operations.console.pages.approvals import ApprovalPages
from operations.console.pages.base import Pages
from operations.console.pages.consents import ConsentPages
from operations.console.pages.cost import CostPages
from operations.console.pages.data import DataPages
from operations.console.pages.deliveries import DeliveryPages
from operations.console.pages.linking import LinkPages
from operations.console.pages.people import PeoplePages
from operations.console.pages.person import PersonPages
from operations.console.pages.programs import ProgramPages
from operations.console.pages.search import SearchPages
from operations.console.pages.waiting import WaitingPages

PAGES: tuple[type[Pages], ...] = (
    WaitingPages,
    ApprovalPages,
    DeliveryPages,
    PeoplePages,
    PersonPages,
    LinkPages,
    ConsentPages,
    ProgramPages,
    SearchPages,
    CostPages,
    DataPages,
)
