"""What every method is written with: the batch, comparison groups and their statistics, recurrences, trees, the record.

A method file imports from here (and numpy) and needs nothing else of the package but ``losses`` and ``anchors``.
"""

from reproductions.core.axes import AXIS_NAMES, BATCH_AXES, axes_of, described_shape
from reproductions.core.batch import FIELDS, Batch, field_info
from reproductions.core.errors import BatchError, MissingField, ParameterError, ReproductionError
from reproductions.core.fields import AnyArray, Bools, FieldInfo, Floats, Ints
from reproductions.core.groups import (
    AxisGroups,
    EpsRule,
    Groups,
    KeyGroups,
    SingletonRule,
    dense_codes,
    leave_one_out,
    normalise,
)
from reproductions.core.method import Claim, Credit, Evidence, Example, Flag, Granularity, Method, Traits
from reproductions.core.recurrences import backward_sum, following
from reproductions.core.rows import from_rows
from reproductions.core.tree import ROOT, Tree

__all__ = [
    "AXIS_NAMES",
    "BATCH_AXES",
    "FIELDS",
    "ROOT",
    "AnyArray",
    "AxisGroups",
    "Batch",
    "BatchError",
    "Bools",
    "Claim",
    "Credit",
    "EpsRule",
    "Evidence",
    "Example",
    "FieldInfo",
    "Flag",
    "Floats",
    "Granularity",
    "Groups",
    "Ints",
    "KeyGroups",
    "Method",
    "MissingField",
    "ParameterError",
    "ReproductionError",
    "SingletonRule",
    "Traits",
    "Tree",
    "axes_of",
    "backward_sum",
    "dense_codes",
    "described_shape",
    "field_info",
    "following",
    "from_rows",
    "leave_one_out",
    "normalise",
]
