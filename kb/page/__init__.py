"""A Markdown text as one HTML page that needs nothing beside it, and as a PDF of that page."""

from kb.page.chromium import print_pdf
from kb.page.page import Page, html_page

__all__ = ["Page", "html_page", "print_pdf"]
