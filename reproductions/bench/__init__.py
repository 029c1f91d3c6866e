"""The benchmark: (methods x situations x seeds) -> rows. ``run(suite, done=..., jobs=..., on_row=...)``.

A row is one JSON object, one for each cell:

    suite method preset parameters seed     what was run; ``parameters`` are those that differ from the preset
    world spec spec_hash                    the situation's name; the values that it gives its world over the defaults; hash of all values
    metrics                                 name -> unrounded number or null; names are explained in ``bench.quality``
    cost                                    episodes, replays (in team rollouts), coach_calls, seconds of the method itself
    error lacks                             why it failed; the field that the world cannot supply (or what is wrong with one); else null
    notes                                   what a reader of these numbers should know of the method
    inputs_hash code_hash versions          the cell's key, the hash of the code behind it, versions of Python and numpy
    curve                                   training only: value, episodes, cost along the way, and the best value
"""

from reproductions.bench.rows import Row
from reproductions.bench.runner import Ran, run
from reproductions.bench.suite import Cell, Entry, Situation, Sizes, Suite
from reproductions.bench.summary import Summary, summaries

__all__ = ["Cell", "Entry", "Ran", "Row", "Situation", "Sizes", "Suite", "Summary", "run", "summaries"]
