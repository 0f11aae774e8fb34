"""report.html: a run as pages for people. `update_page` keeps it up to date; docs/report.md says how to read it."""

from evalkit.report.html.update import DATA, PageState, update_page
from evalkit.report.update import PAGE

__all__ = ["DATA", "PAGE", "PageState", "update_page"]
