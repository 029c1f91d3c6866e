"""The suites: every world, every method where it belongs, and no cell that fails."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from reproductions import suites, worlds
from reproductions.bench import Row, Sizes, Suite, run
from reproductions.bench.token_loss import LOSSES
from reproductions.core import FIELDS, ParameterError
from reproductions.registry import methods
from reproductions.training import Training

SMALL = Sizes(prompts=6, rollouts=4, batches=3)


def small(suite: Suite, task: Sizes | Training) -> Suite:
    return replace(suite.narrowed(seeds=1), situations=tuple(replace(item, task=task) for item in suite.situations))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """One seed of credit_v1 with small batches."""
    found: list[Row] = []
    run(small(suites.get("credit_v1"), SMALL), jobs=1, on_row=found.append)
    return found


@pytest.fixture(scope="module")
def measured(rows: list[Row]) -> dict[str, list[Row]]:
    """Rows with numbers, by method."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["metrics"]:
            found[row["method"]].append(row)
    return found


def test_no_cell_fails(rows: list[Row]) -> None:
    assert {(row["method"], row["world"], row["error"]) for row in rows if row["error"]} == set()


def test_all_worlds_and_all_methods_take_part() -> None:
    suite = suites.get("credit_v1")
    assert {situation.world for situation in suite.situations} == set(worlds.WORLDS)
    assert {entry.method for entry in suite.entries} == set(methods())
    assert len(suite.seeds) >= 20


def test_every_field_of_a_batch_can_be_had_from_a_world_or_a_training_loop() -> None:
    supplied = {name for situation in suites.SITUATIONS for name in situation.supplies}
    assert set(FIELDS) <= supplied


@pytest.mark.parametrize("name", methods())
def test_a_method_has_numbers_where_its_fields_are_to_be_had(name: str, measured: dict[str, list[Row]]) -> None:
    method = methods()[name]
    feeding = {item.name for item in suites.SITUATIONS if set(method.requires) <= item.supplies}
    assert feeding, f"no situation supplies {method.requires}"
    found = {row["world"] for row in measured[name] if row["preset"] == "paper"}
    # Rewards outside 0..1 are the only other reason not to run.
    assert found <= feeding and found and (found == feeding or "group_free" in method.traits.flags)
    for row in measured[name]:
        assert {"pearson", "cosine", "leakage", "relative_cost"} <= set(row["metrics"])
        assert any(row["metrics"][metric] is not None for metric in ("pearson", "cosine"))
        assert row["cost"]["episodes"] > 0 and row["cost"]["seconds"] > 0


# Where a method belongs, by what its record declares: a flag, and the worlds that isolate what it stands for.
BELONGS = {
    "loss_side": {"tokens", "degenerate", "process"},
    "trust_region": {"chain"},
    "value_labels": {"chain"},
    "tree_sampling": {"chain", "team"},
    "process_reward": {"chain", "roles", "process"},
    "reward_model": {"process"},
    "counterfactual": {"team", "chain"},
    "value_decomposition": {"team"},
    "regression": {"team"},
    "stateful": {"degenerate", "team", "chain"},
    "multi_agent": {"team", "roles", "chain", "process"},
    "group_free": {"chain", "degenerate", "process", "team"},
}


@pytest.mark.parametrize("name", methods())
def test_a_method_is_measured_in_a_world_that_isolates_what_it_stands_for(
    name: str, measured: dict[str, list[Row]]
) -> None:
    seen = {row["spec"]["world"] for row in measured[name]}
    for flag in methods()[name].traits.flags:
        assert seen & BELONGS[flag], f"{name} is {flag} and was seen in {sorted(seen)} only"


def test_trackers_meet_prompts_that_come_again(measured: dict[str, list[Row]]) -> None:
    for name, method in methods().items():
        if "prompt_id_p" in method.optional:
            assert any(row["spec"].get("pool") for row in measured[name]), name


def test_losses_are_measured_where_tokens_have_a_right_weight(measured: dict[str, list[Row]]) -> None:
    error = {
        name: next(row["metrics"]["token_weight_error"] for row in measured[name] if row["world"] == "tokens")
        for name in ("grpo", "dapo", "dr_grpo", "credit_chain", "rloo")
    }
    assert set(error) - {"rloo"} == set(LOSSES) and error["rloo"] is None
    # A mean per sample weighs the short agent's tokens five times as much; the others weigh all alike.
    assert error["grpo"] > 0.5
    assert max(error["dapo"], error["dr_grpo"], error["credit_chain"]) < 1e-9


def test_the_right_side_of_some_comparisons_that_are_known_beforehand(measured: dict[str, list[Row]]) -> None:
    def value(method: str, world: str, metric: str, preset: str = "paper") -> float:
        found = [row for row in measured[method] if (row["world"], row["preset"]) == (world, preset)]
        return float(found[0]["metrics"][metric])

    # A baseline takes noise away; replays cost; what others did leaks into team rewards and not into one's own.
    assert value("rloo", "team_additive", "snr") > value("reinforce", "team_additive", "snr")
    assert value("difference_rewards", "team_additive", "relative_cost") > 1.5
    assert value("grpo", "team_additive", "leakage") > 0.1 > value("cad_grpo", "team_additive", "leakage")
    # The lazy agent has a third of the team's advantage; its quality explains nothing of the reward.
    assert value("grpo", "team_lazy", "lazy") == pytest.approx(1 / 3)
    assert value("cad_grpo", "team_lazy", "lazy") < 0.2


def test_training_runs_in_every_situation_with_every_method_that_can() -> None:
    found: list[Row] = []
    suite = small(suites.get("training_v1"), Training(budget=200.0))
    some = ("grpo", "dr_mas", "spo", "coma", "gigpo", "difference_rewards", "qmix", "at_grpo")
    run(suite.narrowed(methods=some), jobs=1, on_row=found.append)
    assert {row["error"] for row in found} == {None}
    seen = {row["method"] for row in found if row["metrics"]}
    assert seen == set(some)
    for row in found:
        if row["metrics"]:
            assert {"regret", "final_value"} <= set(row["metrics"]) and row["curve"]["cost"][-1] >= 200.0


def test_full_is_both_with_all_presets_and_more_seeds() -> None:
    full, credit, training = (suites.get(name) for name in ("full", "credit_v1", "training_v1"))
    assert full.situations == credit.situations + training.situations and len(full.seeds) == 200
    assert {(entry.method, entry.preset) for entry in full.entries} == {
        (name, preset) for name, method in methods().items() for preset in ("paper", *method.presets)
    }


def test_an_unknown_suite_names_a_near_one() -> None:
    with pytest.raises(ParameterError, match="did you mean credit_v1"):
        suites.get("credit_v2")
