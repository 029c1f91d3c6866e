"""A page printed to PDF by Chromium (or a browser built on it), offline."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kb.errors import KbError
from kb.workspace import write_atomic

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_FLAGS = (
    "--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--no-first-run", "--no-default-browser-check", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)  # fmt: skip
_SECONDS = 120


def find_browser(given: str | None = None) -> str | None:
    """The browser that ``[report] browser`` of kb.toml names, else the first one that is installed."""
    for name in (given,) if given else (*_NAMES, *_PLACES):
        if name and (found := shutil.which(name)):
            return found
    return None


def print_pdf(page: str, output: Path, browser: str | None = None) -> None:
    """Write the page as PDF. Raises KbError when there is no browser or it does not print."""
    program = find_browser(browser)
    if program is None:
        missing = (
            f"{browser} (kb.toml, report.browser) is not a program"
            if browser
            else "no Chromium, Chrome or Edge is installed"
        )
        raise KbError(
            f"no PDF: {missing}",
            "install chromium, or take --format html and print that page from any browser",
        )
    with tempfile.TemporaryDirectory(prefix="kb-print-") as name:
        folder = Path(name)
        (folder / "page.html").write_text(page, encoding="utf-8")
        printed = folder / "page.pdf"
        command = [program, *_FLAGS, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={printed}"]
        # Root has no sandbox to offer; everybody else keeps it.
        if sys.platform != "win32" and os.geteuid() == 0:
            command.append("--no-sandbox")
        try:
            ran = subprocess.run(
                [*command, (folder / "page.html").as_uri()], capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise KbError(
                f"no PDF: {program} did not print: {error}", "take --format html and print that page"
            ) from None
        if not printed.is_file() or not printed.read_bytes().startswith(b"%PDF"):
            words = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = words[-1] if words else f"it ended with {ran.returncode}"
            raise KbError(f"no PDF: {program} did not print: {reason}"[:400], "take --format html and print that page")
        write_atomic(output, printed.read_bytes())
