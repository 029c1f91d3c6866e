"""A workspace with a few records whose names are hard to tell apart, for tests of notes, links, queue and import."""

from __future__ import annotations

from pathlib import Path

from kb.library import Library
from kb.workspace import load_workspace

RECORDS = {
    "grpo": ("2402.03300", "DeepSeekMath: Pushing the Limits", "[GRPO, DeepSeekMath]"),
    "dr_grpo": ("2503.20783", "Understanding R1-Zero-Like Training", "[Dr. GRPO, Dr.GRPO]"),
    "ppo": ("1707.06347", "Proximal Policy Optimization Algorithms", "[PPO]"),
    "sharp": ("2602.08335", "Who Deserves the Reward? Shapley Credit", "[SHARP]"),
    "dapo": ("2503.14476", "DAPO: An Open-Source System", "[DAPO]"),
    "dr_mas": ("2602.08847", "Stable Reinforcement Learning for Teams", "[Dr.MAS]"),
    "reinforce": ("", "Simple Statistical Gradient-Following Algorithms", "[REINFORCE]"),
    "reinforce_pp": ("2501.03262", "A Critic-Free Policy Gradient", "['REINFORCE++']"),
    "rewards": ("", "Optimal Payoff Functions for Collectives", "[difference rewards, WLU]"),
    "twin_a": ("", "Twins of the First Kind", "[TWIN]"),
    "twin_b": ("", "Twins of the Second Kind", "[TWIN]"),
}


def fill_with_papers(root: Path) -> None:
    for slug, (identifier, title, aliases) in RECORDS.items():
        record = root / "papers" / slug / "paper.md"
        record.parent.mkdir(parents=True)
        head = f'id: "{identifier}"\n' if identifier else ""
        record.write_text(f"---\n{head}title: '{title}'\naliases: {aliases}\n---\n", encoding="utf-8")


def library_of(root: Path) -> Library:
    return Library.load(load_workspace(root))
