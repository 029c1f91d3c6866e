"""HTTP to arXiv with manners: one connection, spaced requests, our own name, patience where the server asks for it.

What stays unanswered is a NetworkError that says when to try again; nothing here knows what the answers mean.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kb import __version__
from kb.errors import NetworkError, OfflineError
from kb.ingest.limiter import DEFAULT_INTERVAL, Limiter, shared_limiter
from kb.workspace import Workspace, is_offline

if TYPE_CHECKING:
    import httpx
    import tenacity

API_HOST = "https://export.arxiv.org"
CONTENT_HOST = "https://arxiv.org"
TRIES = 4
LONGEST_WAIT = 120.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})

Answer = TypeVar("Answer")


class Busy(Exception):  # noqa: N818 - a state of the server, which passes
    """The server could not answer this time. ``retry_after`` is in seconds, None where it named no time."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Connection:
    """Asks arXiv, or whatever ``[arxiv] url`` in kb.toml or ``KB_ARXIV_URL`` names. A context manager."""

    def __init__(self, workspace: Workspace, limiter: Limiter | None = None) -> None:
        base = os.environ.get("KB_ARXIV_URL") or workspace.option("arxiv.url")
        self.api = str(base or API_HOST).rstrip("/")
        self.content = str(base or CONTENT_HOST).rstrip("/")
        interval = float(os.environ.get("KB_ARXIV_INTERVAL") or workspace.option("arxiv.interval", DEFAULT_INTERVAL))
        if base is None:
            interval = max(interval, DEFAULT_INTERVAL)  # arXiv's own rule is not for us to relax
        self.limiter = limiter or shared_limiter(interval)
        self.timeout = float(workspace.option("arxiv.timeout", 60.0))
        contact = workspace.option("arxiv.contact")
        self.agent = f"litkb/{__version__}" + (f" (mailto:{contact})" if contact else "")
        self._client: httpx.Client | None = None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def ask(
        self, url: str, consume: Callable[[httpx.Response], Answer], parameters: Mapping[str, str] | None = None
    ) -> Answer:
        """GET, and what ``consume`` makes of the open answer (whatever its status below 500 but 429 and its kin).

        ``consume`` may raise Busy to have the request made again. Raises NetworkError, OfflineError.
        """
        import tenacity

        if is_offline():
            raise OfflineError(f"offline: {url} was not asked", "leave out --offline, or unset KB_OFFLINE")
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Busy),
            stop=lambda state: state.attempt_number >= TRIES or _asked_wait(state) > LONGEST_WAIT,
            wait=self._wait,
            sleep=self.limiter.pause,
            reraise=True,
        )
        try:
            answer: Answer = retrying(self._once, url, consume, parameters)
        except Busy as busy:
            raise _unreachable(busy) from None
        return answer

    def _once(
        self, url: str, consume: Callable[[httpx.Response], Answer], parameters: Mapping[str, str] | None
    ) -> Answer:
        import httpx

        try:
            with self.limiter.turn(), self._http().stream("GET", url, params=parameters) as response:
                if response.status_code in _BUSY or _is_throttled(response):
                    raise Busy(f"it answered {response.status_code}", _retry_after(response.headers.get("Retry-After")))
                return consume(response)
        except httpx.TimeoutException:
            raise Busy("it did not answer in time") from None
        except httpx.HTTPError as error:
            raise Busy(str(error) or type(error).__name__) from None

    def _wait(self, state: tenacity.RetryCallState) -> float:
        import tenacity

        spread = tenacity.wait_random_exponential(multiplier=self.limiter.interval, min=self.limiter.interval)
        return max(_asked_wait(state), spread(state))

    def _http(self) -> httpx.Client:
        if self._client is None:
            import httpx

            self._client = httpx.Client(
                headers={"User-Agent": self.agent},
                timeout=httpx.Timeout(self.timeout, connect=min(20.0, self.timeout)),
                follow_redirects=True,
                limits=httpx.Limits(max_connections=1),
            )
        return self._client


def _asked_wait(state: tenacity.RetryCallState) -> float:
    """Seconds that the last answer asked us to wait; 0 where it named none."""
    busy = state.outcome.exception() if state.outcome else None
    return (busy.retry_after or 0.0) if isinstance(busy, Busy) else 0.0


def _unreachable(busy: Busy) -> NetworkError:
    wait = max(busy.retry_after or 0.0, 60.0)
    due = (dt.datetime.now() + dt.timedelta(seconds=wait)).strftime("%H:%M" if wait < 43_200 else "%Y-%m-%d %H:%M")
    return NetworkError(
        f"arXiv cannot be reached now: {busy}",
        f"what came before is kept; run the same command again from {due} on",
    )


def _is_throttled(response: Any) -> bool:
    """arXiv also says that it is busy with a refusal in plain words."""
    return response.status_code == 403 and b"Rate exceeded" in response.read()[:200]


def _retry_after(value: str | None) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or a date."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())
