"""The runner: what a cell is, that nothing is run twice or lost, and that what it measures is what the world knows."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_world import SmallWorld

from reproductions import registry, worlds
from reproductions.bench import Entry, Ran, Row, Situation, Sizes, Suite, run, summaries
from reproductions.bench.code import code_hash
from reproductions.bench.quality import Known
from reproductions.bench.rows import notes_on
from reproductions.core import Batch, Credit, Example, Method, ParameterError, Traits
from reproductions.worlds.base import Episodes
from reproductions.worlds.team import Team

SIZES = Sizes(prompts=6, rollouts=4, batches=4)
FREE, PAID, LACKING = Entry("grpo"), Entry("difference_rewards"), Entry("coma")


@pytest.fixture(autouse=True)
def small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(worlds.WORLDS, "small", SmallWorld)


def suite(*entries: Entry, seeds: int = 2, task: Any = SIZES, **values: Any) -> Suite:
    return Suite("try", "does it run?", (Situation("small", "small", values, task),), entries, tuple(range(seeds)))


def rows_of(wanted: Suite, **options: Any) -> tuple[list[Row], Ran]:
    rows: list[Row] = []
    return rows, run(wanted, jobs=1, on_row=rows.append, **options)


def oracle(monkeypatch: pytest.MonkeyPatch, credit: Callable[[np.ndarray], np.ndarray]) -> Entry:
    """A method that reads the truth off the batch: in the small world quality is what the action is worth."""

    def assign(batch: Batch) -> Credit:
        quality = np.asarray(batch.need("quality_pkn"))
        worth = np.array(SmallWorld().payoff).mean(axis=1)
        return Credit(credit((quality - worth)[..., None]), diagnostics={"beta_n": np.ones(3)})

    traits = Traits(granularity="action", group="none")
    known = dict(registry.methods())
    known["oracle"] = Method(
        "oracle", "", assign, "", "", ("own",), ("quality_pkn",), traits, lambda: Example(Batch.of())
    )
    monkeypatch.setattr("reproductions.registry.methods", lambda: known)
    monkeypatch.setattr("reproductions.registry.module_of", lambda name: registry)
    return Entry("oracle")


# ---------------------------------------------------------------- what cells share


def test_what_is_true_of_a_play_is_shared_with_plays_of_the_same_actions_only() -> None:
    world = Team(agents=3)

    def played(seed: int, *fields: str) -> Episodes:
        return world.play(np.random.default_rng(seed), 4, 4, fields=frozenset(fields))

    known = Known.of(world, played(0))
    assert known.is_of(played(0, "masked_reward_pkn"))
    assert not known.is_of(played(1))
    # A tree's rollouts share their beginnings, so that its actions are others.
    assert not known.is_of(played(0, "node_pknt"))


# ---------------------------------------------------------------- rows


def test_a_row_stands_alone_and_is_json() -> None:
    rows, ran = rows_of(suite(FREE, PAID, LACKING, seeds=1, noise=0.25))
    assert [row["method"] for row in rows if row["lacks"]] == ["coma"]
    assert (ran.wanted, ran.measured, ran.lacking, ran.failed) == (3, 2, 1, 0)
    for row in rows:
        assert json.loads(json.dumps(row)) == row
        assert row["spec"] == {"world": "small", "noise": 0.25} and len(row["spec_hash"]) == 12
        assert row["suite"] == "try" and row["world"] == "small" and row["seed"] == 0 and row["preset"] == "paper"


def test_what_a_reader_should_know_of_a_method_is_in_its_rows() -> None:
    def notes(name: str) -> str:
        return "; ".join(notes_on(registry.get(name)))

    assert notes("rloo") == ""
    assert notes("grpo") == "loss where tokens are weighed: seq-mean-token-mean"
    assert "network fitted" in notes("qmix") and "critic" in notes("qmix") and "network" not in notes("vdn")
    assert "memory carried" in notes("spo") and "provisional" in notes("spo")
    assert "value labels" in notes("masprm") and "reward model" in notes("bradley_terry")
    assert "own way of sampling" in notes("at_grpo") and "sampling" not in notes("c3")
    row = rows_of(suite(FREE, seeds=1))[0][0]
    assert row["notes"] == notes_on(registry.get("grpo"))


def test_what_a_world_cannot_supply_is_named_and_costs_nothing() -> None:
    row = rows_of(suite(LACKING, seeds=1))[0][0]
    assert row["lacks"] == "action_value_pknta" and row["error"] is None and row["metrics"] == {}
    assert row["cost"] == {"episodes": 0.0, "replays": 0.0, "coach_calls": 0.0, "seconds": 0.0}


def test_a_field_that_only_a_preset_reads_is_found() -> None:
    row = rows_of(suite(Entry("difference_rewards", "aristocrat"), seeds=1))[0][0]
    assert row["lacks"] == "action_value_pknta"


def test_cost_is_that_of_the_batches_measured_and_equal_cost_means_fewer_prompts() -> None:
    rows = {row["method"]: row for row in rows_of(suite(FREE, PAID, seeds=1))[0]}
    # 4 batches of 6 prompts and 4 rollouts; three agents are masked in each.
    assert rows["grpo"]["cost"]["episodes"] == rows["difference_rewards"]["cost"]["episodes"] == 96.0
    assert (rows["grpo"]["cost"]["replays"], rows["difference_rewards"]["cost"]["replays"]) == (0.0, 288.0)
    found = rows["difference_rewards"]["metrics"]
    # Four times the price: a quarter of six prompts.
    assert (found["relative_cost"], found["prompts_equal_cost"]) == (4.0, 1.0)
    assert found["cosine_equal_cost"] < found["cosine"]
    free = rows["grpo"]["metrics"]
    assert (free["relative_cost"], free["prompts_equal_cost"]) == (1.0, 6.0)
    assert free["cosine_equal_cost"] == free["cosine"] and free["snr_equal_cost"] == free["snr"]


def test_the_truth_scores_full_marks_and_its_negative_none(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = oracle(monkeypatch, lambda credit: 7.0 * credit)
    found = rows_of(suite(entry, seeds=1))[0][0]["metrics"]
    full = {"pearson": 1, "spearman": 1, "kendall": 1, "pearson_by_agent": 1, "sign": 1, "shapley": 1}
    assert {name: found[name] for name in full} == pytest.approx(full)
    assert found["lazy"] == 0.0 and found["leakage"] == pytest.approx(0.0, abs=1e-12) and found["beta_error"] == 0.0
    opposite = oracle(monkeypatch, lambda credit: -credit)
    found = rows_of(suite(opposite, seeds=1))[0][0]["metrics"]
    assert {name: found[name] for name in full} == pytest.approx(dict.fromkeys(full, -1) | {"sign": 0})
    assert found["relative_bias"] == 1.0 and found["cosine"] < -0.8 and found["snr"] < 0


def test_metrics_without_an_answer_are_null(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows_of(suite(oracle(monkeypatch, np.zeros_like), seeds=1))[0][0]["metrics"]
    assert found["pearson"] is None and found["cosine"] is None and found["lazy"] is None
    assert found["silent"] == 1.0 and found["sign"] == 0.5


# ---------------------------------------------------------------- seeds, keys, resuming


def without_time(row: Row) -> Row:
    return row | {"cost": row["cost"] | {"seconds": 0}}


def test_same_seed_same_numbers_other_seed_others() -> None:
    first, second = rows_of(suite(FREE, PAID))[0], rows_of(suite(FREE, PAID))[0]
    assert list(map(without_time, first)) == list(map(without_time, second))
    by_seed = {row["seed"]: row["metrics"]["pearson"] for row in first if row["method"] == "grpo"}
    assert by_seed[0] != by_seed[1]


def test_a_cell_does_not_depend_on_the_company_it_is_run_in() -> None:
    together = {(row["method"], row["seed"]): row for row in rows_of(suite(FREE, PAID, seeds=2))[0]}
    for entry in (FREE, PAID):
        for row in rows_of(suite(entry, seeds=2))[0]:
            assert without_time(row) == without_time(together[row["method"], row["seed"]])


def test_a_finished_cell_is_not_run_again_and_an_interrupted_run_goes_on() -> None:
    wanted, kept = suite(FREE, PAID, LACKING, seeds=3), []

    def until_four(row: Row) -> None:
        kept.append(row)
        if len(kept) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(wanted, jobs=1, on_row=until_four)
    done = {row["inputs_hash"] for row in kept}
    rest, ran = rows_of(wanted, done=done)
    assert (ran.skipped, len(rest)) == (4, len(wanted.cells()) - 4)
    assert not done & {row["inputs_hash"] for row in rest}
    again, ran = rows_of(wanted, done=done | {row["inputs_hash"] for row in rest})
    assert (again, ran.skipped) == ([], len(wanted.cells()))


def test_the_key_changes_with_all_that_decides_a_result_and_with_nothing_else() -> None:
    def key(entry: Entry = FREE, seeds: int = 1, task: Any = SIZES, name: str = "try", **values: Any) -> str:
        return replace(suite(entry, seeds=seeds, task=task, **values), name=name).cells()[-1].key

    keys = [
        key(),
        key(PAID),
        key(Entry("grpo", "trl")),
        key(Entry("grpo", "paper", {"ddof": 0})),
        key(seeds=2),
        key(task=replace(SIZES, prompts=7)),
        key(task=replace(SIZES, call_price=0.2)),
        key(noise=0.6),
    ]
    assert len(set(keys)) == len(keys)
    assert key(name="other") == key() == key(noise=0.5)


def test_what_a_world_lacks_is_said_by_one_seed() -> None:
    assert len(suite(FREE, LACKING, seeds=5).cells()) == 6


# ---------------------------------------------------------------- failures


def test_a_failing_cell_is_a_row_with_its_error_and_stops_nothing() -> None:
    rows, ran = rows_of(suite(PAID, FREE, fault="error"))
    assert [(row["method"], row["error"]) for row in rows if row["error"]] == [
        ("difference_rewards", "masks are out of stock (order some)")
    ] * 2
    assert (ran.failed, ran.measured) == (2, 2)
    assert all(row["metrics"] == {} for row in rows if row["error"])


def test_a_spec_that_the_world_refuses_is_refused_before_anything_runs() -> None:
    wanted = Suite("try", "", (Situation("bad", "team", {"agents": 99}),), (FREE,), (0,))
    with pytest.raises(ParameterError, match="agents is 99"):
        run(wanted, jobs=1, on_row=lambda row: None)


def test_an_unknown_world_and_an_unknown_method_name_near_ones() -> None:
    with pytest.raises(ParameterError, match="did you mean team"):
        Suite("try", "", (Situation("bad", "teem"),), (FREE,), (0,)).cells()
    with pytest.raises(ParameterError, match="did you mean grpo"):
        suite(FREE, PAID).narrowed(methods=["grpp"])
    with pytest.raises(ParameterError, match="world 'smal' is not known"):
        suite(FREE, PAID).narrowed(situations=["smal"])


def test_a_suite_narrowed_to_some_methods_worlds_and_seeds() -> None:
    wanted = suite(FREE, PAID, Entry("grpo", "trl"), seeds=3).narrowed(methods=["grpo"], situations=["small"], seeds=2)
    assert {(cell.entry.method, cell.entry.preset, cell.seed) for cell in wanted.cells()} == {
        (name, preset, seed) for name, preset in (("grpo", "paper"), ("grpo", "trl")) for seed in (0, 1)
    }


# ---------------------------------------------------------------- processes


def in_processes(entries: tuple[Entry, ...], seeds: int = 3, **values: Any) -> tuple[list[Row], Ran]:
    """In worker processes, which know the worlds of the package only."""
    wanted = Suite("try", "", (Situation("team", "team", values, SIZES),), entries, tuple(range(seeds)))
    rows: list[Row] = []
    seen: list[tuple[int, int]] = []
    ran = run(wanted, jobs=2, on_row=rows.append, progress=lambda finished, total: seen.append((finished, total)))
    assert seen[-1] == (len(wanted.cells()),) * 2 and [finished for finished, _ in seen] == sorted(f for f, _ in seen)
    alone: list[Row] = []
    run(wanted, jobs=1, on_row=alone.append)
    by_key = {row["inputs_hash"]: without_time(row) for row in alone}
    assert {row["inputs_hash"]: without_time(row) for row in rows} == by_key
    return rows, ran


def test_two_processes_give_the_rows_of_one() -> None:
    rows, ran = in_processes((FREE, PAID, Entry("mappa")))
    assert len(rows) == ran.measured + ran.lacking == 7
    assert 0.0 < ran.numpy_share < 1.0 and ran.cells_per_second > 0


def test_processes_stop_with_the_run_and_what_came_back_is_kept() -> None:
    wanted = Suite("try", "", (Situation("team", "team", {}, SIZES),), (FREE, PAID), tuple(range(8)))
    kept: list[Row] = []

    def until_three(row: Row) -> None:
        kept.append(row)
        if len(kept) == 3:
            raise OSError("disk full")

    others = {child.pid for child in multiprocessing.active_children()}
    with pytest.raises(OSError, match="disk full"):
        run(wanted, jobs=2, on_row=until_three)
    # The pool's own thread waits for its workers: joining them here as well would race with it.
    deadline = time.monotonic() + 60
    while {child.pid for child in multiprocessing.active_children()} - others and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not {child.pid for child in multiprocessing.active_children()} - others
    rest: list[Row] = []
    run(wanted, jobs=2, done={row["inputs_hash"] for row in kept}, on_row=rest.append)
    assert len({row["inputs_hash"] for row in kept + rest}) == len(kept) + len(rest) == 16


def test_a_worker_that_dies_takes_down_its_own_cells_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The worlds module of the worker is replaced by one that knows the small world.
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import small_world\nfrom reproductions import worlds\nworlds.WORLDS['small'] = small_world.SmallWorld\n",
        encoding="utf-8",
    )
    here = Path(__file__).resolve()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{here.parents[1]}:{here.parents[2]}")
    situations = (
        Situation("fine", "small", {}, SIZES),
        Situation("deadly", "small", {"fault": "death"}, SIZES),
        Situation("also_fine", "small", {"noise": 1.0}, SIZES),
    )
    rows: list[Row] = []
    run(Suite("try", "", situations, (FREE, PAID), (0, 1)), jobs=2, on_row=rows.append)
    errors = {(row["world"], row["error"]) for row in rows}
    assert errors == {
        ("fine", None),
        ("also_fine", None),
        ("deadly", "RuntimeError: the worker process died (out of memory?)"),
    }
    assert len(rows) == 12 and len({row["inputs_hash"] for row in rows}) == 12


# ---------------------------------------------------------------- code and summaries


def test_the_hash_of_code_sees_what_is_imported_and_not_words_or_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def hashed(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return code_hash(name)

    plain = hashed("first_code", "from reproductions.core import axes_of\n\n\ndef f(x):\n    return x + 1\n")
    found = {
        "words": hashed(
            "second_code",
            '"""Words."""\nfrom reproductions.core import axes_of\ndef f(x):  # more\n    "x"\n    return (x + 1)\n',
        ),
        "number": hashed("third_code", "from reproductions.core import axes_of\ndef f(x):\n    return x + 2\n"),
        "import": hashed("fourth_code", "from reproductions.core.axes import axes_of\ndef f(x):\n    return x + 1\n"),
    }
    assert len({plain, *found.values()}) == 4, "the name of a module is part of its hash"
    from reproductions.bench.code import _read

    assert _read("first_code")[0] == _read("second_code")[0] != _read("third_code")[0]
    assert _read("first_code")[1] != _read("fourth_code")[1]


def test_the_hash_of_a_cell_covers_method_world_and_measures() -> None:
    from reproductions.bench.code import _read

    cell = Suite("try", "", (Situation("team", "team"),), (Entry("dr_mas"),), (0,)).cells()[0]
    assert cell.code == code_hash(
        "reproductions.methods.dr_mas", "reproductions.worlds.team", "reproductions.bench.measure"
    )
    assert "reproductions.bench.quality" in _read("reproductions.bench.measure")[1]
    assert "reproductions.metrics" in _read("reproductions.bench.quality")[1]


def test_summary_of_hand_written_rows() -> None:
    def row(seed: int, value: float | None, world: str = "w", **more: Any) -> dict[str, Any]:
        return {"method": "m", "preset": "paper", "world": world, "seed": seed, "metrics": {"x": value}, **more}

    rows = [row(0, 9.0), row(0, 1.0), row(1, 2.0), row(2, 3.0), row(3, None), row(0, None, world="v")]
    found = summaries(rows, wanted=4)
    assert list(found) == [("m", "paper", "w", "x")], "a metric that is null everywhere has no mean"
    # Mean 2, deviation 1, t of 2 degrees of freedom 4.302653: half width 4.302653 / sqrt 3. The later of two rows counts.
    one = found["m", "paper", "w", "x"]
    assert (one.mean, one.n, one.wanted, one.finished) == (2.0, 3, 4, False)
    assert (one.high - 2.0, 2.0 - one.low) == pytest.approx((2.484138, 2.484138), abs=1e-6)
    assert summaries(rows[:4], wanted=3)["m", "paper", "w", "x"].finished
