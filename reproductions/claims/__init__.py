"""Pre-registered claims: statement, source, setting and decision rule, written before the runs that decide them.

A claim ends as supported, refuted or undecided. Whichever it is, it is published with its numbers. A rule that is changed after a run says
so in ``revisions``.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from reproductions.claims.claim import Check, Claim, Decision, Measured
from reproductions.core import ParameterError

__all__ = ["Check", "Claim", "Decision", "Measured", "claims", "get"]


@cache
def claims() -> dict[str, Claim]:
    """All claims by slug, in the order in which they are numbered in reports."""
    from reproductions.claims import counterfactual, delayed, judges, losses, regression, roles, variance

    parts = (regression, judges, losses, delayed, counterfactual, variance, roles)
    return {claim.slug: claim for part in parts for claim in part.CLAIMS}


def get(slug: str) -> Claim:
    """One claim. Raises ParameterError with near slugs."""
    known = claims()
    if slug not in known:
        near = get_close_matches(slug, known, n=3, cutoff=0.4)
        raise ParameterError(
            f"there is no claim {slug!r}", f"did you mean {', '.join(near)}?" if near else ", ".join(known)
        )
    return known[slug]
