"""What an acronym stands for, as texts say it."""

from __future__ import annotations

import pytest

from kb.check.names import expansions, spells


@pytest.mark.parametrize(
    ("text", "acronym", "long"),
    [
        (
            "MAPPO (Multi-Agent Proximal Policy Optimization) is simple",
            "MAPPO",
            "Multi-Agent Proximal Policy Optimization",
        ),
        ("we use Generalized Advantage Estimation (GAE) here", "GAE", "Generalized Advantage Estimation"),
        ("TRPO 的全称是 Trust Region Policy Optimization", "TRPO", None),
        ("TRPO全称是 Trust Region Policy Optimization。", "TRPO", "Trust Region Policy Optimization"),
        ("RLOO stands for REINFORCE Leave One Out", "RLOO", "REINFORCE Leave One Out"),
        ("GRPO（Group Relative Policy Optimization）", "GRPO", "Group Relative Policy Optimization"),
        ("GRPO (for example in DeepSeekMath and others)", "GRPO", None),
        ("the CAD-GRPO (Causal Group Relative Policy Optimization)", "GRPO", None),
    ],
)
def test_expansions(text: str, acronym: str, long: str | None) -> None:
    assert expansions(text, acronym) == ([long] if long else [])


@pytest.mark.parametrize(
    ("long", "acronym"),
    [
        ("Decoupled Clip and Dynamic sAmpling Policy Optimization", "DAPO"),
        ("finetuning MultiAgent systems with Per-action Process rewards from AI feedback", "MAPPA"),
        ("Multi-Agent Process-aware Policy Allocation", "MAPPA"),
        ("Group-in-Group Policy Optimization", "GiGPO"),
    ],
)
def test_letters_of_an_acronym_come_from_first_or_capital_letters(long: str, acronym: str) -> None:
    assert spells(long, acronym)


def test_words_that_do_not_spell_the_acronym_are_no_expansion() -> None:
    assert not spells("reinforcement learning", "DAPO")
    assert not spells("Optimization", "O")
