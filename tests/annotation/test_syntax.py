"""The pipeline that ERRANT parses with: the shipped one, and the script that makes one."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("errant")
from edit_gec.annotation import syntax
from edit_gec.errors import InputError

ROOT = Path(__file__).parents[2]
train_pipeline = runpy.run_path(str(ROOT / "profiles" / "training" / "syntax_pipeline.py"))["train_pipeline"]
TREE = """# text = {word} dogs were seen.
1	{word}	the	DET	DT	Definite=Def	2	det	_	_
2	dogs	dog	NOUN	NNS	Number=Plur	4	nsubj:pass	_	_
3	were	be	AUX	VBD	Tense=Past	4	aux:pass	_	_
4	seen	see	VERB	ODD	VerbForm=Part	0	root	_	SpaceAfter=No
5	.	.	PUNCT	.	_	4	punct	_	_

"""


def test_the_shipped_pipeline_knows_what_errant_asks() -> None:
    from errant.en.classifier import pos_map
    from spacy.tokens import Doc

    nlp = syntax.load_pipeline()
    doc = nlp(Doc(nlp.vocab, words="She has gone to the old houses .".split()))
    assert [t.tag_ for t in doc] == ["PRP", "VBZ", "VBN", "IN", "DT", "JJ", "NNS", "."]
    assert [t.lemma_ for t in doc][1:3] == ["have", "go"] and doc[6].lemma_ == "house"
    assert (doc[1].dep_, doc[0].pos_, doc[2].dep_) == ("aux", "PRON", "ROOT")
    assert set(nlp.get_pipe("tagger").labels) <= set(pos_map)
    assert "nsubjpass" in nlp.get_pipe("parser").labels and "nsubj:pass" not in nlp.get_pipe("parser").labels
    assert syntax.identify_pipeline(nlp) == syntax.identify_pipeline(syntax.load_pipeline())


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")  # spaCy's
def test_the_script_trains_one(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        trees = "".join(TREE.format(word=word) for word in ["The", "Those", "These", "All"] * 15)
        (tmp_path / f"tiny-{split}.conllu").write_text(trees, encoding="utf-8")
    scores = train_pipeline(tmp_path, tmp_path / "out", steps=40)
    assert scores["tag_acc"] > 90
    nlp = syntax.load_pipeline(str(tmp_path / "out"))
    doc = nlp("The dogs were seen.")
    assert [t.tag_ for t in doc][:2] == ["DT", "NNS"]
    assert "XX" in nlp.get_pipe("tagger").labels  # ODD is no tag that ERRANT knows
    assert doc[1].dep_ == "nsubjpass"
    assert str(tmp_path) not in (tmp_path / "out" / "config.cfg").read_text()


def test_missing_treebank_and_pipeline(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected one .*train.* found 0"):
        train_pipeline(tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="'en_none' is not installed"):
        syntax.load_pipeline("en_none")
