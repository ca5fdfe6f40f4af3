"""A language model side by side with its peers, and what drafts save it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tiny_causal import save_folder

from edit_gec.errors import InputError
from edit_gec.lab.performance import results, systems
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.lab.performance.side_by_side import Effort, measure_side_by_side

SENTENCES = ["She go home.", "They was at the park!", "I likes it.", "We is here now, too."]


@pytest.fixture(scope="module")
def causal(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """A tiny language model on disk, which is its own assistant."""
    folder = tmp_path_factory.mktemp("causal")
    save_folder(folder, max_position_embeddings=600)
    target = str(folder)
    return Setup(str(model_folder), target, assistant=target, prompt="Correct: {source}\n", max_length=24)


def test_all_write_what_the_language_model_writes(causal: Setup) -> None:
    pair = Pair(causal)
    expected = [pair.target.text(ids) for ids in pair.target.generate(SENTENCES)]
    for system in systems.OF_LANGUAGE_MODELS:
        assert systems.missing(system, causal) is None, system.name
        run = system.build(pair)
        if system.exact:
            assert [run([sentence])[0] for sentence in SENTENCES] == expected, system.name
            assert not system.batches or run(SENTENCES) == expected, system.name


@pytest.mark.slow
def test_side_by_side(causal: Setup) -> None:
    result = measure_side_by_side(causal, SENTENCES, Effort(batches=(1, 4), repeats=1))
    rows = result["systems"]
    assert not result["skipped"] and result["reference"] == "lm"
    assert all(row["same_output"] == 1 for row in rows.values() if row["exact"])
    drafted = {name for name, row in rows.items() if "drafting" in row}
    assert drafted == {"lm + copy, SAD", "lm + copy", "lm + edit5 draft", "lm + own output"}
    for batch in ("1", "4"):
        bound = rows["lm + own output"]["drafting"][batch]
        assert bound["passes_mean"] == bound["one_pass_rate"] == 1
        assert all(bound["passes_mean"] <= rows[name]["drafting"][batch]["passes_mean"] for name in drafted)
    assert "| lm + own output | 4 | 1.00 |" in results.format_result(result)
    with pytest.raises(InputError, match="leave --size out for a language model"):
        measure_side_by_side(causal, SENTENCES, Effort(size="base"))
