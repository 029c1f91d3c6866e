"""The client of an OpenAI-compatible server: what it sends, what it takes, and what it says when that goes wrong."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from llm_server import LlmServer, Reply, fails, llm_serving, says

from kb.errors import ERROR, NETWORK, KbError, NetworkError, OfflineError, UsageError
from kb.llm import TRIES, BadAnswer, Chat, LlmSettings, settings_of
from kb.workspace import Workspace

KEY = "sk-test-4242424242"
QUESTION = [{"role": "user", "content": "长度？"}]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_LLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def settings(server: LlmServer, **fields: Any) -> LlmSettings:
    return LlmSettings(**{"base_url": server.url, "model": "small", "key": KEY, "timeout": 5.0, **fields})


def ask(server: LlmServer, pauses: list[float] | None = None, **fields: Any) -> str:
    with Chat(settings(server, **fields), (pauses if pauses is not None else []).append) as chat:
        return chat.ask(QUESTION)


def failing(server: LlmServer, **fields: Any) -> KbError:
    with pytest.raises(KbError) as caught:
        ask(server, **fields)
    told = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert KEY not in told
    return caught.value


def workspace(**llm: Any) -> Workspace:
    return Workspace(Path(), {"llm": llm})


def test_a_question_goes_out_as_the_protocol_wants_it_and_the_answer_comes_back() -> None:
    with llm_serving(says("  三百词元 ")) as server:
        assert ask(server, parameters={"temperature": 0, "model": "not this one"}) == "三百词元"
    [(path, headers, body)] = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {"temperature": 0, "model": "small", "messages": QUESTION}


def test_an_answer_in_parts_is_put_together() -> None:
    with llm_serving(
        says(None, message={"content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]})
    ) as server:
        assert ask(server) == "one two"


def test_our_own_name_of_the_key_comes_first_and_no_key_sends_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with llm_serving(says("yes")) as server:
        for ours, theirs, sent in (("a", "b", "Bearer a"), ("", "b", "Bearer b"), ("", "", None)):
            monkeypatch.setenv("KB_LLM_API_KEY", ours)
            monkeypatch.setenv("OPENAI_API_KEY", theirs)
            with Chat(settings_of(workspace(base_url=server.url, model="small"))) as chat:
                chat.ask(QUESTION)
            assert server.asked[-1][1].get("Authorization") == sent


def test_nothing_is_asked_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_OFFLINE", "1")
    with llm_serving(says("yes")) as server:
        assert isinstance(failing(server), OfflineError)
    assert server.asked == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_without_the_key_even_when_the_server_repeats_it(status: int) -> None:
    with llm_serving(fails(status, f"Incorrect API key provided: {KEY}")) as server:
        error = failing(server)
    assert (error.exit_code, len(server.asked)) == (ERROR, 1)
    assert f"answered {status}: Incorrect API key provided: ***" in error.message
    assert "KB_LLM_API_KEY" in error.hint


def test_an_unknown_model_and_a_bad_request_say_what_to_check() -> None:
    with llm_serving(
        fails(404, "The model `small` does not exist"), fails(400, "temperature is not supported")
    ) as server:
        assert "model (small)" in failing(server).hint
        assert "parameters" in failing(server).hint
    assert len(server.asked) == 2


def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    pauses: list[float] = []
    with llm_serving(fails(429, "slow down", **{"Retry-After": "7"}), fails(503, "loading"), says("here")) as server:
        assert ask(server, pauses) == "here"
    assert pauses == [7.0, 2.0]


def test_a_wait_of_an_hour_is_not_sat_out() -> None:
    pauses: list[float] = []
    with llm_serving(fails(429, "quota", **{"Retry-After": "3600"})) as server, pytest.raises(NetworkError):
        ask(server, pauses)
    assert (pauses, len(server.asked)) == ([], 1)


@pytest.mark.parametrize("status", [429, 500, 502])
def test_a_server_that_stays_down_is_a_network_error_after_a_few_tries(status: int) -> None:
    with llm_serving(fails(status, f"oops {KEY}")) as server:
        error = failing(server)
    assert (error.exit_code, len(server.asked)) == (NETWORK, TRIES)
    assert f"answered {status}" in error.message


@pytest.mark.parametrize("reply", [Reply(delay=1.0), Reply(b"x" * 200, drip=0.05)], ids=["silent", "dripping"])
def test_an_answer_that_does_not_come_in_time_is_a_network_error(reply: Reply) -> None:
    with llm_serving(reply) as server:
        error = failing(server, timeout=0.2)
    assert isinstance(error, NetworkError)
    assert "did not answer within 0.2 s" in error.message


def test_a_closed_port_is_a_network_error_that_names_the_address() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    error = failing(LlmServer(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(error, NetworkError)
    assert f"http://127.0.0.1:{port}/v1" in error.message


def test_a_redirect_is_shown_and_the_key_does_not_follow_it() -> None:
    with (
        llm_serving(says("stolen")) as other,
        llm_serving(Reply(status=307, headers={"Location": other.url})) as server,
    ):
        assert "answered 307" in failing(server).message
    assert other.asked == []


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(b'{"choices": [{"message": {"content": "cut'), "not in the form"),
        (Reply(b"<html>gateway</html>"), "not in the form"),
        (Reply(b'{"choices": []}'), "not in the form"),
        (Reply(b"[1, 2]"), "not in the form"),
        (Reply(b'{"choices": [{"message": "text"}]}'), "not in the form"),
        (says(""), "empty"),
        (says(None), "empty"),
        (says("half an", finish_reason="length"), "cut off"),
        (says(None, message={"refusal": f"I cannot help with {KEY}"}), "refused: I cannot help with ***"),
        (says("", finish_reason="content_filter"), "refused"),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_says_why_and_is_not_asked_for_again(reply: Reply, words: str) -> None:
    with llm_serving(reply) as server:
        error = failing(server)
    assert isinstance(error, BadAnswer)
    assert words in error.message
    assert len(server.asked) == 1


def test_an_address_is_shown_without_its_password() -> None:
    shown = LlmSettings("https://me:secret@llm.example:8443/v1?token=abc", "m", KEY)
    assert shown.place == "https://llm.example:8443/v1"
    assert KEY not in repr(shown)


@pytest.mark.parametrize(
    "llm",
    [{}, {"base_url": "http://127.0.0.1/v1"}, {"model": "m"}, {"base_url": "file:///etc", "model": "m"}, {"base_url": "http://[x", "model": "m"},
     {"base_url": "http://h/v1", "model": "m", "timeout": "soon"}, {"base_url": "http://h/v1", "model": "m", "parameters": 3}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_usage_errors(llm: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        settings_of(workspace(**llm))
    assert caught.value.hint


def test_an_address_with_the_path_of_the_protocol_and_a_key_with_a_line_end_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KB_LLM_API_KEY", f"{KEY}\n")
    found = settings_of(workspace(base_url="http://h/v1/chat/completions/", model="m"))
    assert (found.base_url, found.key) == ("http://h/v1", KEY)
    monkeypatch.setenv("KB_LLM_API_KEY", "密钥")
    with pytest.raises(UsageError):
        settings_of(workspace(base_url="http://h/v1", model="m"))
