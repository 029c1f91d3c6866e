"""Anchor states: which steps start from the same state, exactly, by likeness of text, or by clusters of vectors."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from reproductions.core import Floats, Ints, Strings, group_ids


def exact_groups(state_c: Strings, *keys: Any) -> Ints:
    """Steps with equal states (and equal keys, as the task) share a group. One hash pass, no loop over groups."""
    codes: dict[Any, int] = {}
    state = np.fromiter((codes.setdefault(value, len(codes)) for value in state_c.tolist()), np.int64, len(state_c))
    return group_ids(*keys, state) if keys else state


def similar_groups(state_c: Strings, task_c: Ints, threshold: float = 0.95) -> Ints:
    """GiGPO's optional grouping: first fit by difflib ratio against each group's first member, within a task.

    Greedy, so it depends on the order of the steps, as the authors' code does.
    """
    groups = np.zeros(len(state_c), np.int64)
    first: dict[int, list[tuple[int, str]]] = {}
    count = 0
    for step, text in enumerate(map(str, state_c)):
        members = first.setdefault(int(task_c[step]), [])
        found = next((g for g, other in members if difflib.SequenceMatcher(None, text, other).ratio() >= threshold), None)
        if found is None:
            found, count = count, count + 1
            members.append((found, text))
        groups[step] = found
    return groups


def clustered_groups(vector_cd: Floats, task_c: Ints, distance: float = 0.1) -> Ints:
    """Groups of steps whose state vectors lie within a cosine distance of each other (average linkage), within a task.

    For states that are texts and almost never equal, as the histories of language-model agents.
    """
    from sklearn.cluster import AgglomerativeClustering

    groups = np.zeros(len(vector_cd), np.int64)
    offset = 0
    for task in np.unique(task_c):
        rows = np.flatnonzero(task_c == task)
        labels = np.zeros(len(rows), np.int64)
        if len(rows) > 1:
            model = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=distance)
            labels = model.fit_predict(vector_cd[rows]).astype(np.int64)
        groups[rows] = labels + offset
        offset += int(labels.max(initial=0)) + 1
    return groups
