"""``kb index`` and ``kb doctor``."""

from kb.workspace import Workspace


def bring_up_to_date(workspace: Workspace) -> None:
    pass
