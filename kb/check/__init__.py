"""Checks over a library and its notes: claims, links, records."""

from kb.check.claims import claims_of_note
from kb.check.values import ClaimVerdict, Evidence

__all__ = ["ClaimVerdict", "Evidence", "claims_of_note"]
