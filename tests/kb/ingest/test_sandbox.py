"""The child process that reads foreign files: it gives values and errors back, and dies alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kb.errors import BadDocument
from kb.ingest.sandbox import ReaderFailed, Sandbox


def child_pid() -> int:
    return os.getpid()


def spin() -> None:
    while True:
        pass


def sleep_long() -> None:
    import time

    time.sleep(60)


def swell() -> int:
    return len(bytearray(3 << 30))


def die() -> None:
    os._exit(7)


def refuse(reason: str) -> None:
    raise BadDocument(reason, "a hint", transient=True)


def stumble() -> None:
    raise IndexError("page 3 not in document\nand more")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox(cpu_seconds=1, wall_seconds=20, memory=2 << 30)
    yield made
    made.close()


def test_one_child_serves_many_calls_and_is_not_us(sandbox: Sandbox) -> None:
    first = sandbox.run(child_pid)
    assert first == sandbox.run(child_pid) != os.getpid()


def test_a_readers_own_refusal_comes_back_whole(sandbox: Sandbox) -> None:
    with pytest.raises(BadDocument, match="not a PDF") as caught:
        sandbox.run(refuse, "not a PDF")
    assert (caught.value.hint, caught.value.transient) == ("a hint", True)


def test_a_fault_of_the_reader_is_one_line_and_may_be_tried_again(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderFailed) as caught:
        sandbox.run(stumble)
    assert caught.value.message == "cannot be read: IndexError: page 3 not in document"
    assert caught.value.transient


def test_too_much_processor_time_kills_the_child_and_the_next_call_works(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match="1 s of processor time"):
        sandbox.run(spin)
    assert sandbox.run(child_pid) > 0


def test_too_much_memory_is_refused_and_the_child_replaced(sandbox: Sandbox) -> None:
    before = sandbox.run(child_pid)
    with pytest.raises(ReaderFailed, match="memory"):
        sandbox.run(swell)
    assert sandbox.run(child_pid) != before


def test_a_child_that_dies_is_named_and_replaced(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match="died"):
        sandbox.run(die)
    assert sandbox.run(child_pid) > 0


def test_the_wall_clock_ends_a_reader_that_waits() -> None:
    impatient = Sandbox(cpu_seconds=5, wall_seconds=0.5)
    try:
        with pytest.raises(ReaderFailed, match="gave up after"):
            impatient.run(sleep_long)
    finally:
        impatient.close()
