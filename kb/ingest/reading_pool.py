"""Several papers read at the same time, each in a child process with limits of its own."""

from __future__ import annotations

import contextlib
import queue
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from kb.ingest.originals import PaperFiles
from kb.ingest.readings import Reading, read_paper
from kb.ingest.sandbox import ReaderFailed, Sandbox
from kb.model import Metadata


class ReadingPool:
    """Maps ``read_paper`` over ``jobs`` child processes. A context manager; leaving it ends every child at once."""

    def __init__(self, jobs: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="read")
        self._children = [Sandbox() for _ in range(jobs)]
        self._idle: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        for child in self._children:
            self._idle.put(child)

    def __enter__(self) -> ReadingPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            with contextlib.suppress(OSError):
                child.close()

    def submit(self, files: PaperFiles, metadata: Metadata | None) -> Future[Reading]:
        """Read the files of one paper. The future raises BadDocument where ``read_paper`` does."""
        return self._threads.submit(self._read, files, metadata)

    def _read(self, files: PaperFiles, metadata: Metadata | None) -> Reading:
        child = self._idle.get()
        try:
            return _read_what_can_be_read(child, files, metadata)
        finally:
            self._idle.put(child)


def _read_what_can_be_read(child: Sandbox, files: PaperFiles, metadata: Metadata | None) -> Reading:
    """Read all the files; where a reader fails, what is left without the likeliest culprit, in the end the record."""
    failures: list[ReaderFailed] = []
    no_source = replace(files, source=None)
    for left in dict.fromkeys((files, no_source, replace(no_source, html=None), PaperFiles())):
        if failures and left == PaperFiles() and metadata is None:
            break
        try:
            reading = child.run(read_paper, left, metadata)
        except ReaderFailed as error:
            failures.append(error)
            continue
        lost = [f"a file was not used: {failure.message}" for failure in failures]
        return replace(reading, remarks=(*lost, *reading.remarks))
    raise failures[0]
