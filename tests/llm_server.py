"""A server on this machine that speaks the protocol of chat completions, well or badly, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server answers: a status, a body, headers, seconds to wait before and between the bytes of the body."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0


@dataclass
class LlmServer:
    """Answers with ``replies`` in order, the last of them for ever. ``asked`` holds path, headers and body of each request."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def says(text: str | None, **choice: Any) -> Reply:
    """A well-formed answer with this text; further fields go into its choice."""
    message = {"role": "assistant", "content": text} | choice.pop("message", {})
    answer = {
        "id": "c-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice],
    }
    return Reply(json.dumps(answer, ensure_ascii=False).encode())


def fails(status: int, message: str, **headers: str) -> Reply:
    """An error in the form of the protocol."""
    return Reply(json.dumps({"error": {"message": message, "type": "error"}}).encode(), status, headers)


@contextmanager
def llm_serving(*replies: Reply) -> Iterator[LlmServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server.asked.append((self.path, dict(self.headers), json.loads(body)))
            reply = server.next_reply()
            time.sleep(reply.delay)
            try:
                self.send_response(reply.status)
                for name, value in ({"Content-Length": str(len(reply.body))} | reply.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                step = 1 if reply.drip else max(len(reply.body), 1)
                for start in range(0, len(reply.body), step):
                    self.wfile.write(reply.body[start : start + step])
                    self.wfile.flush()
                    time.sleep(reply.drip)
            except OSError:
                pass  # the client has left, as some tests want

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = LlmServer(f"http://127.0.0.1:{http.server_port}/v1", list(replies))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
