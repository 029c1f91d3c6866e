"""The weekly report: what is gathered for it, from text alone, and the draft that people go on writing in."""

from kb.report.draft import Draft, draft_path, fresh_draft, write_draft
from kb.report.gather import gather
from kb.report.values import WeekReport

__all__ = ["Draft", "WeekReport", "draft_path", "fresh_draft", "gather", "write_draft"]
