"""Claims with the verdicts that the experiment log gives them, as values and as the block of their experiment.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from kb.bench.errors import reproduction_errors
from kb.experiments import Experiment, Run, read_experiment, slugs
from kb.workspace import Workspace

if TYPE_CHECKING:
    from reproductions.claims import Claim, Decision

Verdict = Literal["supported", "refuted", "undecided", "not run"]


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim and what its runs came to; without runs there is no decision."""

    number: int
    claim: Claim
    decision: Decision | None
    failed: int

    @property
    def verdict(self) -> Verdict:
        """As printed in tables."""
        return "not run" if self.decision is None or not self.decision.seeds else self.decision.verdict

    def statement(self, language: str) -> str:
        """In the language of the reader."""
        return self.claim.statement_zh if language == "zh" else self.claim.statement


def claim_slugs() -> list[str]:
    """All claims, in the order of their numbers."""
    from reproductions.claims import claims

    return list(claims())


def judged(workspace: Workspace, only: Sequence[str] = ()) -> list[JudgedClaim]:
    """All claims, or some, with their verdicts. Raises KbError for a slug that is no claim."""
    with reproduction_errors():
        from reproductions.claims import claims, get

        for slug in only:
            get(slug)
        logged = set(slugs(workspace))
        found = []
        for number, claim in enumerate(claims().values(), start=1):
            if only and claim.slug not in only:
                continue
            runs = read_experiment(workspace, claim.slug).current() if claim.slug in logged else ()
            found.append(_judge(number, claim, runs))
        return found


def judged_by(experiment: Experiment) -> JudgedClaim | None:
    """What an experiment's runs say of the claim that they were made for; None for a suite."""
    with reproduction_errors():
        from reproductions.claims import claims

        for number, claim in enumerate(claims().values(), start=1):
            if claim.slug == experiment.slug:
                return _judge(number, claim, experiment.current())
        return None


def _judge(number: int, claim: Claim, runs: Sequence[Run]) -> JudgedClaim:
    from reproductions.claims.running import decision

    decided = decision(claim.slug, [run.row for run in runs]) if runs else None
    return JudgedClaim(number, claim, decided, sum(bool(run.error) for run in runs))


def estimate(value: float, low: float, high: float) -> str:
    """``0.42 [0.40, 0.44]``."""
    return f"{_number(value)} [{_number(low)}, {_number(high)}]"


def claim_data(item: JudgedClaim) -> dict[str, Any]:
    """A judged claim as plain values."""
    claim, decision = item.claim, item.decision
    data: dict[str, Any] = {
        "number": item.number,
        "slug": claim.slug,
        "verdict": item.verdict,
        "statement": claim.statement,
        "statement_zh": claim.statement_zh,
        "source": claim.source,
        "setting": claim.setting,
        "revisions": list(claim.revisions),
        "failed_runs": item.failed,
        "checks": [],
    }
    if decision is None:
        return data
    data |= {"seeds": decision.seeds, "seeds_wanted": decision.wanted}
    data["cost"] = {
        "episodes": decision.cost.episodes,
        "replays": decision.cost.replays,
        "coach_calls": decision.cost.coach_calls,
    }
    data["checks"] = [
        {
            "metric": check.metric,
            "says": check.says,
            "says_zh": check.says_zh,
            "above": check.above,
            "below": check.below,
            "outcome": outcome,
            **_interval(found),
        }
        for check, found, outcome in decision.checks
    ]
    data["reported"] = {name: _interval(found) for name, found in decision.reported.items()}
    return data


def bounds(above: float | None, below: float | None) -> str:
    """The bounds of a check in words of mathematics."""
    if above is not None and below is not None:
        return f"{_number(above)} … {_number(below)}"
    return f"> {_number(above)}" if above is not None else f"< {_number(below or 0.0)}"


def _interval(found: Any) -> dict[str, Any]:
    values = {"value": found.value, "low": found.low, "high": found.high}
    return {name: value if isfinite(value) else str(value) for name, value in values.items()} | {"n": found.n}


def _number(value: float) -> str:
    if not isfinite(value):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), "–")
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
