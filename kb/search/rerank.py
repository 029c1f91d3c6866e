"""An optional second look at the best passages with a cross-encoder that the user names in ``[search] reranker``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kb.errors import KbError

if TYPE_CHECKING:
    from kb.search.hybrid import Answer


def rerank(answer: Answer, model: str) -> Answer:
    """The answer with its hits in the cross-encoder's order. Raises KbError when it cannot be loaded."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise KbError(
            "a reranker needs sentence-transformers", "pip install 'litkb[torch]', or take [search] reranker out"
        ) from None
    try:
        encoder = CrossEncoder(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise KbError(f"the reranker {model} is not here: {error}", f"kb models pull {model}") from None
    question = answer.translation.text if answer.translation.has_han and answer.translation.text else answer.question
    scores = encoder.predict([(question, hit.passage.text) for hit in answer.hits])
    order = sorted(range(len(answer.hits)), key=lambda at: -float(scores[at]))
    return replace(answer, hits=tuple(answer.hits[at] for at in order))
