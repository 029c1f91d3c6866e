"""In a sentence, how the index stands to the files: for ``kb status``."""

from __future__ import annotations

from kb.errors import KbError
from kb.index.documents import changed_files, scan
from kb.index.reader import Index
from kb.index.recipe import NoIndexError
from kb.workspace import Workspace


def index_state(workspace: Workspace) -> str:
    """What the index holds, and how many documents changed since."""
    try:
        with Index.open(workspace) as index:
            counts = index.counts()
            behind = len(changed_owners(workspace, index))
            remarks = index.remarks
    except NoIndexError:
        return "none yet; kb index makes it"
    except KbError as error:
        return error.message
    state = f"{counts['passages']} passages of {counts['papers']} papers and {counts['notes']} notes"
    if behind:
        state += f"; {behind} changed since, kb index brings it up to date"
    return "; ".join([state, *remarks])


def changed_owners(workspace: Workspace, index: Index) -> set[str]:
    """Papers and notes whose files are not what the index was made from."""
    found = scan(workspace)
    known = index.files()
    changed = {owner for owner, files in found.items() if changed_files(workspace.root, files, known.get(owner))[0]}
    return changed | (known.keys() - found.keys())
