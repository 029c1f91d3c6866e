"""A language model behind an OpenAI-compatible address: one question, one answer, and errors that say what to do.

``kb.toml`` names it (``[llm] base_url``, ``model``; ``timeout`` in seconds, and ``parameters`` that are sent along, as
``{temperature = 0}``); the key comes from the environment alone (``KB_LLM_API_KEY``, else ``OPENAI_API_KEY``) and is never
shown, whatever a server answers. Nothing here is asked while the offline switch is on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb import __version__
from kb.errors import KbError, NetworkError, OfflineError, UsageError
from kb.workspace import Workspace, is_offline

if TYPE_CHECKING:
    import httpx
    import tenacity

KEY_NAMES = ("KB_LLM_API_KEY", "OPENAI_API_KEY")
TRIES = 3
LONGEST_WAIT = 30.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_MOST_BYTES = 4_000_000
_SHOWN = 200  # characters of a server's own words
_PATH = "/chat/completions"


class BadAnswer(KbError):  # noqa: N818 - named for the answer, which is what is bad
    """The model answered, but not with something to use: refused, cut off, not in the form of the protocol."""


class _Busy(Exception):  # noqa: N818 - a state of the server, which passes
    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Which model is asked, and where. The key is left out of every representation."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The address as it may be shown: without a user name, a password or a query."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def settings_of(workspace: Workspace) -> LlmSettings:
    """The model that the workspace names. Raises UsageError when it names none, or an address that is none."""
    base, model = workspace.option("llm.base_url"), workspace.option("llm.model")
    example = 'put [llm] base_url = "http://127.0.0.1:8000/v1" and model = "..." into kb.toml'
    if not base or not model:
        raise UsageError("no language model is configured", example)
    url = str(base).rstrip("/").removesuffix(_PATH)
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("[llm] base_url in kb.toml is no http address", example)
    key = next((value for name in KEY_NAMES if (value := os.environ.get(name, "").strip())), "")
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            "the key of the language model holds characters that no header can carry", f"set {KEY_NAMES[0]} again"
        )
    try:
        timeout = float(workspace.option("llm.timeout", 60.0))
        parameters = dict(workspace.option("llm.parameters", {}))
    except (TypeError, ValueError):
        raise UsageError(
            "[llm] timeout is seconds and parameters is a table", "timeout = 60, parameters = {temperature = 0}"
        ) from None
    return LlmSettings(url, str(model), key, timeout, parameters)


class Chat:
    """Asks the model. A context manager; the connection opens with the first question."""

    def __init__(self, settings: LlmSettings, pause: Callable[[float], None] = time.sleep) -> None:
        self.settings = settings
        self._pause = pause
        self._client: httpx.Client | None = None

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def ask(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The text of the model's answer to ``messages`` (``role`` and ``content`` each).

        Raises BadAnswer for an answer that cannot be used, OfflineError and NetworkError when none came, and KbError when
        the server does not let us ask.
        """
        import tenacity

        if is_offline():
            raise OfflineError("offline: the language model was not asked", "leave out --offline, or unset KB_OFFLINE")
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Busy),
            stop=lambda state: state.attempt_number >= TRIES or _asked_wait(state) > LONGEST_WAIT,
            wait=lambda state: max(_asked_wait(state), float(2 ** (state.attempt_number - 1))),
            sleep=self._pause,
            reraise=True,
        )
        body = {
            **self.settings.parameters,
            "model": self.settings.model,
            "messages": [dict(message) for message in messages],
        }
        try:
            status, data = retrying(self._once, body)
        except _Busy as busy:
            raise NetworkError(
                f"the language model at {self.settings.place} cannot be reached now: {busy}",
                "what came before is kept; run the same command again later",
            ) from None
        if status != 200:
            raise self._refused(status, data)
        return self._content(data)

    def _once(self, body: Mapping[str, Any]) -> tuple[int, bytes]:
        """Status and body of one request. Raises _Busy for what may pass, KbError for an answer without end."""
        import httpx

        deadline = time.monotonic() + self.settings.timeout
        try:
            with self._http().stream("POST", self.settings.base_url + _PATH, json=body) as response:
                if response.status_code in _BUSY:
                    raise _Busy(f"it answered {response.status_code}", _seconds(response.headers.get("Retry-After")))
                data = b""
                for piece in response.iter_bytes():
                    data += piece
                    if time.monotonic() > deadline:
                        raise _Busy(f"it did not answer within {self.settings.timeout:g} s")
                    if len(data) > _MOST_BYTES:
                        raise BadAnswer("the language model's answer has no end", "check [llm] base_url in kb.toml")
                return response.status_code, data
        except httpx.TimeoutException:
            raise _Busy(f"it did not answer within {self.settings.timeout:g} s") from None
        except httpx.HTTPError as error:
            raise _Busy(self._shown(str(error)) or type(error).__name__) from None

    def _http(self) -> httpx.Client:
        if self._client is None:
            import httpx

            headers = {"User-Agent": f"litkb/{__version__}"}
            if self.settings.key:
                headers["Authorization"] = f"Bearer {self.settings.key}"
            # A redirect is shown, not followed: the key is for the address that was named.
            self._client = httpx.Client(headers=headers, timeout=self.settings.timeout, follow_redirects=False)
        return self._client

    def _refused(self, status: int, data: bytes) -> KbError:
        said = self._shown(_error_message(data))
        words = f"the language model at {self.settings.place} answered {status}" + (f": {said}" if said else "")
        if status in (401, 403):
            return KbError(
                words, f"set {KEY_NAMES[0]} to a key that it takes" if self.settings.key else f"set {KEY_NAMES[0]}"
            )
        if status == 404:
            return KbError(words, f"check [llm] base_url and model ({self.settings.model}) in kb.toml")
        if 300 <= status < 400:
            return KbError(words, "it points elsewhere; put the address that answers into [llm] base_url")
        return KbError(words, "check [llm] model and parameters in kb.toml")

    def _content(self, data: bytes) -> str:
        answer = _json(data)
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
        except (TypeError, KeyError, IndexError, AttributeError):
            raise BadAnswer(
                "the language model's answer is not in the form of chat completions",
                "check that [llm] base_url ends where the protocol begins, often in /v1",
            ) from None
        if refusal or choice.get("finish_reason") == "content_filter":
            raise BadAnswer(
                f"the language model refused: {self._shown(str(refusal or 'its content filter stopped it'))}"
            )
        if choice.get("finish_reason") == "length":
            raise BadAnswer("the language model's answer was cut off", "raise max_tokens in [llm] parameters")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        if not isinstance(content, str) or not content.strip():
            raise BadAnswer("the language model gave an empty answer")
        return content.strip()

    def _shown(self, text: str) -> str:
        """A server's words on one line, short, and without the key, should it repeat it."""
        if self.settings.key:
            text = text.replace(self.settings.key, "***")
        line = " ".join(text.split())
        return line[:_SHOWN] + (" …" if len(line) > _SHOWN else "")


def _asked_wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, _Busy) else 0.0


def _seconds(value: str | None) -> float:
    """Seconds of a Retry-After header; 0 for a date or none."""
    return float(value) if value and value.strip().isdigit() else 0.0


def _json(data: bytes) -> Any:
    import json

    try:
        return json.loads(data)
    except ValueError:
        return None


def _error_message(data: bytes) -> str:
    """What an error answer says, in the protocol's form or in any other."""
    answer = _json(data)
    error = answer.get("error", answer) if isinstance(answer, dict) else None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or "")
    return str(error) if error else data[:_SHOWN].decode("utf-8", "replace")
