"""Anchor states: which actions were taken in the same situation, exactly, by likeness of text, or by clusters of vectors.

Each function returns integer keys ``[p, k, n, t]`` for ``Batch.group_by``. Actions that differ on an axis of ``within`` never
share a key: "p" keeps tasks apart (GiGPO), "pn" agents too, "pnt" turns too.
"""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from reproductions.core import BATCH_AXES, AnyArray, Batch, Floats, Ints


def exact_anchors(batch: Batch, within: str = "p") -> Ints:
    """Equal states share a key. Text is hashed once per action; there is no loop over groups."""
    state = batch.need("state_pknt")
    return _within(batch, _codes(state), within)


def similar_anchors(batch: Batch, within: str = "p", threshold: float = 0.95) -> Ints:
    """First fit: a state joins the first anchor whose founder has a difflib ratio of at least ``threshold`` with it.

    As in GiGPO's released code, so the result depends on the order of the actions (prompt by prompt, rollout by rollout, in
    the order of play), and the cost grows with actions times anchors.
    """
    state_pkq = batch.in_play_order(batch.need("state_pknt"))
    scope_pkq = batch.in_play_order(_within(batch, np.zeros(batch.shape, dtype=np.int64), within))
    key_pkq = np.zeros(state_pkq.shape, dtype=np.int64)
    founders: dict[int, list[tuple[str, int]]] = {}
    count = 0
    for place in np.argwhere(batch.in_play_order(batch.acted_pknt)):
        at = tuple(place)
        text, known = str(state_pkq[at]), founders.setdefault(int(scope_pkq[at]), [])
        for founder, key in known:
            if difflib.SequenceMatcher(None, text, founder).ratio() >= threshold:
                key_pkq[at] = key
                break
        else:
            known.append((text, count))
            key_pkq[at], count = count, count + 1
    return np.ascontiguousarray(batch.from_play_order(key_pkq))


def clustered_anchors(batch: Batch, within: str = "p", distance: float = 0.1) -> Ints:
    """States whose vectors lie within a cosine distance of each other on average share a key (average linkage).

    For states that are long texts and almost never equal, such as the histories of language-model agents. The cost is
    quadratic in the actions of one scope.
    """
    from sklearn.cluster import AgglomerativeClustering

    vector = batch.need("state_vector_pkntf")
    scope = _within(batch, np.zeros(batch.shape, dtype=np.int64), within)
    key = np.zeros(batch.shape, dtype=np.int64)
    offset = 0
    for value in np.unique(scope[batch.acted_pknt]):
        chosen = batch.acted_pknt & (scope == value)
        label = _clusters(vector[chosen], AgglomerativeClustering, distance)
        key[chosen] = label + offset
        offset += int(label.max()) + 1
    return key


def _clusters(vector_bf: Floats, clustering: Any, distance: float) -> Ints:
    if len(vector_bf) == 1:
        return np.zeros(1, dtype=np.int64)
    model = clustering(n_clusters=None, metric="cosine", linkage="average", distance_threshold=distance)
    return np.asarray(model.fit_predict(vector_bf), dtype=np.int64)


def _codes(state: AnyArray) -> Ints:
    """Integers that are equal where the states are."""
    if state.dtype.kind in "iub":
        return state.astype(np.int64)
    code: dict[Any, int] = {}
    flat = state.ravel().tolist()
    return np.fromiter((code.setdefault(item, len(code)) for item in flat), np.int64, len(flat)).reshape(state.shape)


def _within(batch: Batch, code_pknt: Ints, within: str) -> Ints:
    """Keys that also differ wherever the indices of the axes ``within`` do."""
    low = int(code_pknt.min(initial=0))
    key = code_pknt - low
    for axis, index in zip(BATCH_AXES, np.indices(batch.shape, sparse=True), strict=True):
        if axis in within:
            key = key * max(batch.shape[BATCH_AXES.index(axis)], 1) + index
    return key
