"""Read the web for the person: pages that they name or that a search found."""

from agents.web.reading import read_page
from agents.web.searching import web_search

__all__ = ["read_page", "web_search"]
