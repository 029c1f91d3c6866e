"""``kb facts draft`` and ``kb facts review`` as people run them, with and without a language model."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drafted_paper import HEADLINE, LIMITATION, PROBLEM, fill
from llm_server import LlmServer, fails, llm_serving, says

from kb import frontmatter

Kb = Callable[..., Any]  # returns the Ran of conftest.py
KEY = "sk-test-7777777777"


@pytest.fixture
def filled(workspace: Path) -> Path:
    fill(workspace)
    return workspace


def record(workspace: Path) -> Path:
    return workspace / "papers" / "sharex" / "paper.md"


def facts(workspace: Path) -> dict[str, Any]:
    return dict(frontmatter.read(record(workspace))[0]["facts"])


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


# ---------------------------------------------------------------- draft


def test_drafts_are_printed_with_place_and_score_and_written(kb: Kb, filled: Path) -> None:
    ran = kb("facts", "draft", "2401.00007", "--columns", "limitation,critic,tree_sampling")
    assert ran.code == 0
    assert LIMITATION[:60] in ran.out and "v2, section 4, p. 4" in ran.out
    assert "already facts: critic" in ran.err and "nothing found for: tree_sampling" in ran.err
    assert f"1 drafted into {record(filled)}; kb facts review sharex" in ran.err
    assert facts(filled)["limitation"]["level"] == "draft"
    again = kb("facts", "draft", "sharex", "--columns", "limitation")
    assert (again.code, "nothing new was drafted" in again.err) == (0, True)


def test_drafting_works_without_the_embedding_model(kb: Kb, filled: Path) -> None:
    ran = kb("facts", "draft", "sharex", "--columns", "problem", "--keyword", "--json")
    [paper] = json.loads(ran.out)
    [column] = paper["columns"]
    assert (paper["paper"], column["column"], column["state"]) == ("sharex", "problem", "drafted")
    assert PROBLEM in column["candidates"][0]["text"]
    assert set(column["candidates"][0]) == {"text", "evidence", "passage", "score"}


def test_one_paper_without_text_does_not_stop_the_others(kb: Kb, filled: Path) -> None:
    ran = kb("facts", "draft", "bare", "sharex", "--columns", "limitation")
    assert ran.code == 3
    assert "not drafted: bare: bare has a record but no text to draft from" in ran.err
    assert facts(filled)["limitation"]["level"] == "draft"
    alone = kb("facts", "draft", "bare")
    assert (alone.code, "hint: kb ingest" in alone.err) == (1, True)


def test_mistakes_are_told_in_words(kb: Kb, filled: Path, workspace: Path) -> None:
    assert kb("facts", "draft", "nobody").code == 2
    wrong = kb("facts", "draft", "sharex", "--columns", "moods")
    assert (wrong.code, "no column 'moods'" in wrong.err) == (2, True)
    assert kb("facts", "draft", "sharex", "--lang", "fr").code == 2
    assert "no language model is configured" in kb("facts", "draft", "sharex", "--llm").err


def test_without_an_index_the_command_says_how_to_make_one(kb: Kb, workspace: Path) -> None:
    (workspace / "papers" / "x").mkdir()
    (workspace / "papers" / "x" / "paper.md").write_text("---\ntitle: X\n---\n", encoding="utf-8")
    ran = kb("facts", "draft", "x")
    assert (ran.code, "hint: kb index makes it" in ran.err) == (1, True)


# ---------------------------------------------------------------- review


def test_a_person_answers_draft_by_draft(kb: Kb, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb("facts", "draft", "sharex", "--columns", "problem,idea,headline,limitation")
    typed(monkeypatch, "1", "e", "逐个删去消息来估计贡献", "9", "c", "s", "r")
    ran = kb("facts", "review", "sharex")
    assert ran.code == 0
    assert ran.out.count("accepted") == 2 and "rejected limitation" in ran.out
    assert "papers/sharex/text.md, Abstract" in ran.out  # the context
    assert "that is none of the choices" in ran.err and "1 drafts wait" in ran.err
    known = facts(filled)
    assert known["problem"]["level"] == "paper" and PROBLEM in known["problem"]["en"]
    assert known["idea"] == {"zh": "逐个删去消息来估计贡献", "level": "paper", "evidence": "v2, abstract"}
    assert known["headline"]["level"] == "draft" and "limitation" not in known
    assert kb("facts", "draft", "sharex", "--columns", "limitation").err.startswith("rejected before: limitation")


def test_what_was_answered_is_kept_when_the_input_ends(kb: Kb, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb("facts", "draft", "sharex", "--columns", "problem,limitation")
    typed(monkeypatch, "r")
    ran = kb("facts", "review", "sharex")
    assert (ran.code, "1 drafts wait" in ran.err) == (0, True)
    assert "problem" not in facts(filled) and facts(filled)["limitation"]["level"] == "draft"


def test_decisions_on_the_command_line_ask_nothing(kb: Kb, filled: Path) -> None:
    kb("facts", "draft", "sharex", "--columns", "problem,idea,headline,limitation")
    ran = kb(
        "facts", "review", "sharex", "--accept", "headline=2", "--accept", "limitation", "--reject", "all", "--json"
    )
    told = json.loads(ran.out)
    assert told["waiting"] == []
    assert told["done"][:4] == ["accepted headline", "accepted limitation", "rejected problem", "rejected idea"]
    assert facts(filled)["headline"] == {
        "en": "SHAREX: 61.5 AIME24 (GRPO 55.0; PPO 57.3) [Main results: accuracy (%) of all methods]",
        "level": "paper",
        "evidence": "v2, table 1, p. 3",
    }
    assert set(facts(filled)) == {"critic", "headline", "limitation"}


@pytest.mark.parametrize(
    "decisions",
    [
        ("--accept", "mood"),
        ("--accept", "problem=7"),
        ("--accept", "problem=x"),
        ("--reject", "critic"),
        ("--accept", "problem", "--reject", "problem"),
    ],
)
def test_a_decision_that_makes_no_sense_changes_nothing(kb: Kb, filled: Path, decisions: tuple[str, ...]) -> None:
    kb("facts", "draft", "sharex", "--columns", "problem,limitation")
    before = record(filled).read_bytes()
    ran = kb("facts", "review", "sharex", "--accept", "limitation", *decisions)
    assert (ran.code, record(filled).read_bytes()) == (2, before)


def test_a_long_sentence_of_the_paper_is_pointed_out(kb: Kb, filled: Path) -> None:
    kb("facts", "draft", "sharex", "--columns", "limitation,headline")
    ran = kb("facts", "review", "sharex", "--accept", "all")
    assert "in the paper's own words still: " in ran.err and "limitation" in ran.err


def test_the_table_marks_a_draft(kb: Kb, filled: Path) -> None:
    kb("facts", "draft", "sharex", "--columns", "limitation")
    ran = kb("compare", "sharex", "--columns", "limitation,critic", "--lang", "en")
    assert "✎ A limitation of our method" in ran.out and "✎ no" not in ran.out


# ---------------------------------------------------------------- a language model


def answer(value: str | None, passages: list[int] | None = None, quotes: list[str] | None = None) -> str:
    return json.dumps(
        {"value": value, "passages": passages if passages is not None else [1], "quotes": quotes or []},
        ensure_ascii=False,
    )


@pytest.fixture
def online(filled: Path, monkeypatch: pytest.MonkeyPatch, kb: Kb) -> Callable[[LlmServer], None]:
    """Points the workspace to a server, with a key in the environment."""

    def point(server: LlmServer) -> None:
        monkeypatch.delenv("KB_OFFLINE", raising=False)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setenv("KB_LLM_API_KEY", KEY)
        monkeypatch.setattr("kb.llm.time.sleep", lambda _: None)
        config = (filled / "kb.toml").read_text(encoding="utf-8")
        (filled / "kb.toml").write_text(
            f'{config}[llm]\nbase_url = "{server.url}"\nmodel = "tiny"\ntimeout = 20\n', encoding="utf-8"
        )

    return point


def drafted(kb: Kb, *more: str) -> Any:
    ran = kb("facts", "draft", "sharex", "--columns", "headline", "--llm", *more)
    assert KEY not in ran.out + ran.err
    return ran


def test_a_supported_answer_becomes_the_first_candidate(kb: Kb, filled: Path, online: Any) -> None:
    short = "AIME24 准确率 61.5%，比最好的基线高 4.2 个百分点"
    with llm_serving(
        says(f"<think>{{hm}}</think>```json\n{answer(short, [1], ['outperforming the best baseline'])}\n```")
    ) as server:
        online(server)
        ran = drafted(kb, "--lang", "zh")
    assert ran.code == 0 and "worded by tiny" in ran.out
    [(_, headers, body)] = server.asked
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert HEADLINE in body["messages"][1]["content"] and "Chinese" in body["messages"][0]["content"]
    fact = facts(filled)["headline"]
    assert (fact["zh"], fact["level"], fact["worded_by"], fact["evidence"]) == (short, "draft", "tiny", "v2, abstract")
    assert [HEADLINE in other["en"] for other in fact["others"]] == [True, False]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (answer("63.5% on AIME24"), "the number 63.5% is not in the cited passages"),
        (answer("AIME24 上提升百分之六十二"), "the number 百分之六十二 is not in the cited passages"),
        (answer("three times the accuracy"), "the number three is not in the cited passages"),
        (answer("beats GPT-4 on AIME24"), "the name GPT-4 is not in the cited passages"),
        (answer("accuracy rises", quotes=["a dramatic rise"]), "the quotation “a dramatic rise” is not in the cited passages"),
        (answer("它“显著领先”"), "the quotation “显著领先” is not in the cited passages"),
        (answer("83.9% on MATH", [1]), "the number 83.9% is not in the cited passages"),
        (answer("61.5%", [3]), "it cites a passage that was not given"),
        (answer("61.5%", []), "it cites no passage"),
        (answer(None), "it found no answer in the passages"),
        (answer("very " * 200), "it is longer than the draft"),
        ("61.5% on AIME24", "its answer is no JSON object"),
        ('{"value": "61.5%", "passages": [1], "quotes": "best"}', "its quotes are no list of texts"),
        ("[1]", "its answer is no JSON object"),
    ],
)  # fmt: skip
def test_an_answer_that_the_passages_do_not_hold_is_refused_and_the_draft_stays(
    kb: Kb, filled: Path, online: Any, content: str, reason: str
) -> None:
    with llm_serving(says(content)) as server:
        online(server)
        ran = drafted(kb)
    assert ran.code == 3
    assert f"headline: the language model's words were not taken: {reason}" in ran.err
    fact = facts(filled)["headline"]
    assert HEADLINE in fact["en"] and "worded_by" not in fact


def test_a_number_of_a_table_may_be_cited_from_the_table(kb: Kb, filled: Path, online: Any) -> None:
    with llm_serving(says(answer("83.9% on MATH", [2]))) as server:
        online(server)
        assert drafted(kb).code == 0
    assert facts(filled)["headline"]["evidence"] == "v2, table 1, p. 3"


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (fails(401, f"bad key {KEY}"), 3, "answered 401: bad key ***"),
        (fails(429, "quota"), 4, "answered 429"),
        (fails(500, "oops"), 4, "answered 500"),
    ],
)  # fmt: skip
def test_a_server_that_fails_is_asked_no_more_and_the_drafts_are_kept(
    kb: Kb, filled: Path, online: Any, reply: Any, code: int, words: str
) -> None:
    with llm_serving(reply) as server:
        online(server)
        ran = kb("facts", "draft", "sharex", "--columns", "headline,limitation", "--llm")
    assert ran.code == code and KEY not in ran.out + ran.err
    assert f"the drafts keep the paper's own words: the language model at {server.url} " in ran.err and words in ran.err
    assert len(server.asked) == (1 if code == 3 else 3)
    assert {facts(filled)[column]["level"] for column in ("headline", "limitation")} == {"draft"}


def test_a_refusal_or_rubbish_for_one_column_does_not_end_the_asking(kb: Kb, filled: Path, online: Any) -> None:
    with llm_serving(says(None, message={"refusal": "no"}), says(answer("at most 8 agents"))) as server:
        online(server)
        ran = kb("facts", "draft", "sharex", "--columns", "headline,limitation", "--llm")
    assert (
        ran.code == 3
        and "headline: the language model's words were not taken: the language model refused: no" in ran.err
    )
    assert facts(filled)["limitation"]["en"] == "at most 8 agents"


def test_offline_the_model_is_not_asked_and_the_drafts_are_kept(kb: Kb, filled: Path, online: Any) -> None:
    with llm_serving(says(answer("61.5%"))) as server:
        online(server)
        ran = kb("--offline", "facts", "draft", "sharex", "--columns", "headline", "--llm")
    assert (ran.code, server.asked) == (4, [])
    assert "offline: the language model was not asked" in ran.err
    assert HEADLINE in facts(filled)["headline"]["en"]


def test_a_waiting_draft_is_worded_once_and_a_person_s_words_never(kb: Kb, filled: Path, online: Any) -> None:
    kb("facts", "draft", "sharex", "--columns", "headline,limitation")
    text = (
        record(filled)
        .read_text(encoding="utf-8")
        .replace("A limitation of our method is that it needs", "By my reading it needs")
    )
    record(filled).write_text(text, encoding="utf-8")
    with llm_serving(says(answer("61.5% on AIME24"))) as server:
        online(server)
        first = kb("facts", "draft", "sharex", "--columns", "headline,limitation", "--llm")
        once = record(filled).read_bytes()
        second = kb("facts", "draft", "sharex", "--columns", "headline,limitation", "--llm")
    assert (first.code, second.code, len(server.asked)) == (0, 0, 1)
    assert facts(filled)["headline"]["en"] == "61.5% on AIME24"
    assert facts(filled)["limitation"]["en"].startswith("By my reading it needs")
    assert record(filled).read_bytes() == once
