"""What an experiment's runs came to, written into the block of its experiment.md that is ours."""

from __future__ import annotations

import json
from typing import Any

from kb import blocks
from kb.bench.claims import JudgedClaim, bounds, claim_data, estimate, judged
from kb.bench.fidelity import fidelity_rows, reference_worlds, summaries_of
from kb.experiments import TEXT_NAME, Experiment, begin, experiments_folder, read_experiment
from kb.render import render
from kb.table_formats import escape_markdown
from kb.workspace import Workspace, write_atomic

CLAIMS = "claims"
_OVERVIEW = {
    "zh": ("预登记论断", "笔记与论文里的哪些说法，在真值已知的合成世界里成立？判定规则先于运行写下。"),
    "en": (
        "Pre-registered claims",
        "Which statements of notes and papers hold in synthetic worlds of known truth? The rules were written before the runs.",
    ),
}
VERDICTS = {
    "zh": {"supported": "成立", "refuted": "被否定", "undecided": "未定", "not run": "未运行"},
    "en": {"supported": "supported", "refuted": "refuted", "undecided": "undecided", "not run": "not run"},
}
_OUTCOMES = {
    "zh": {"supported": "通过", "refuted": "不通过", "undecided": "未定"},
    "en": {"supported": "holds", "refuted": "fails", "undecided": "open"},
}


def language_of(workspace: Workspace) -> str:
    """The language in which kb writes in this workspace."""
    return "en" if str(workspace.option("language", "en")).startswith("en") else "zh"


def write_results(workspace: Workspace, slug: str, title: str, question: str, results: str) -> bool:
    """Make the experiment's text, or refresh its results while they are as we left them; whether the file changed."""
    language = language_of(workspace)
    # A JSON string is a YAML string, whatever it holds.
    values = {
        "title": title,
        "quoted_title": json.dumps(title, ensure_ascii=False),
        "question": question,
        "results": results,
    }
    fresh = blocks.with_register(render(workspace, f"experiment.{language}.md.j2", **values))
    path = experiments_folder(workspace) / slug / TEXT_NAME
    if not path.exists():
        begin(workspace, slug, fresh)
        return True
    old = path.read_text(encoding="utf-8")
    new = blocks.refresh(old, fresh).text
    if new != old:
        write_atomic(path, new)
    return new != old


def write_claim(workspace: Workspace, slug: str) -> bool:
    """The text of a claim's experiment."""
    (item,) = judged(workspace, [slug])
    language = language_of(workspace)
    return write_results(
        workspace, slug, item.statement(language), _question(item, language), claim_results(workspace, item)
    )


def write_suite(workspace: Workspace, slug: str, question: str) -> bool:
    """The text of a suite's experiment: cost against fidelity as a table, and the pictures that were drawn."""
    experiment = read_experiment(workspace, slug)
    found = summaries_of(experiment)
    pictures = sorted((experiment.folder / "pictures").glob("*.png"))
    results = render(
        workspace,
        f"results-suite.{language_of(workspace)}.md.j2",
        runs=len(experiment.current()),
        measured=sum(not run.error and not run.lacks for run in experiment.current()),
        lacking=sum(bool(run.lacks) for run in experiment.current()),
        failed=sum(bool(run.error) for run in experiment.current()),
        seeds=len({run.seed for run in experiment.current()}),
        worlds=[{"name": world, "rows": fidelity_rows(found, world)} for world in reference_worlds(found)],
        remarks=_remarks(experiment),
        pictures=pictures,
    )
    return write_results(workspace, slug, slug, question, results)


def _remarks(experiment: Experiment) -> list[tuple[str, str]]:
    """What the rows say must be known to read their numbers, with the methods that each remark is about."""
    about: dict[str, set[str]] = {}
    for run in experiment.current():
        for remark in run.row.get("notes") or ():
            about.setdefault(remark, set()).add(run.method)
    return [(remark, ", ".join(sorted(methods))) for remark, methods in sorted(about.items())]


def write_overview(workspace: Workspace) -> bool:
    """The text of the experiment ``claims``: all claims with their verdicts and decisive numbers."""
    language = language_of(workspace)
    items = [
        {
            "number": item.number,
            "slug": item.claim.slug,
            "statement": escape_markdown(item.statement(language)),
            "verdict": VERDICTS[language][item.verdict],
            "numbers": escape_markdown(decisive_numbers(item)),
        }
        for item in judged(workspace)
    ]
    pictures = sorted((experiments_folder(workspace) / CLAIMS / "pictures").glob("*.png"))
    results = render(workspace, f"results-claims.{language}.md.j2", items=items, pictures=pictures)
    title, question = _OVERVIEW[language]
    return write_results(workspace, CLAIMS, title, question, results)


def decisive_numbers(item: JudgedClaim) -> str:
    """The estimates of a claim's checks, those that decided it first: what failed, or else what is open, or all."""
    if item.decision is None:
        return ""
    same = [(check, found) for check, found, outcome in item.decision.checks if outcome == item.decision.verdict]
    return "; ".join(
        f"{check.metric} {estimate(found.value, found.low, found.high)}"
        for check, found in same or [c[:2] for c in item.decision.checks]
    )


def claim_results(workspace: Workspace, item: JudgedClaim) -> str:
    """The verdict with its checks and numbers."""
    language = language_of(workspace)
    data = claim_data(item)
    checks = [
        {
            "says": escape_markdown(check["says_zh"] if language == "zh" else check["says"]),
            "estimate": estimate(float(check["value"]), float(check["low"]), float(check["high"])),
            "bounds": escape_markdown(bounds(check["above"], check["below"])),
            "outcome": _OUTCOMES[language][check["outcome"]],
        }
        for check in data["checks"]
    ]
    checked = {check["metric"] for check in data["checks"]}
    reported = {name: found for name, found in data.get("reported", {}).items() if name not in checked}
    return render(
        workspace,
        f"results-claim.{language}.md.j2",
        verdict=VERDICTS[language][item.verdict],
        seeds=data.get("seeds", 0),
        wanted=item.claim.seeds,
        failed=item.failed,
        cost=_cost(data.get("cost", {}), language),
        checks=checks,
        reported=", ".join(
            f"`{name}` {estimate(float(f['value']), float(f['low']), float(f['high']))}" for name, f in reported.items()
        ),
        revisions=item.claim.revisions,
    )


def _question(item: JudgedClaim, language: str) -> str:
    claim = item.claim
    if language == "zh":
        return f"{claim.statement_zh}\n\n- 出处：{claim.source}\n- 设置：{claim.setting}\n- 判定：全部检验的 95% 区间都在界限之内则成立，任何一个整个在界外则被否定，否则未定；至少 {claim.seeds} 个种子。"
    return (
        f"{claim.statement}\n\n- Source: {claim.source}\n- Setting: {claim.setting}\n- Rule: supported if the 95% interval of every check lies within its bounds, refuted if "
        f"one lies outside, undecided otherwise; at least {claim.seeds} seeds."
    )


def _cost(cost: dict[str, Any], language: str) -> str:
    names = {"zh": ("条轨迹", "条重放", "次 coach 调用"), "en": ("episodes", "replays", "coach calls")}[language]
    joint = "、" if language == "zh" else ", "
    parts = zip(("episodes", "replays", "coach_calls"), names, strict=True)
    return joint.join(f"{cost.get(key, 0):,.0f} {name}" for key, name in parts)
