"""Train the spaCy pipeline that ERRANT parses with (edit_gec/annotation/syntax_en) on a treebank, UD English EWT.

python profiles/training/syntax_pipeline.py CONLLU_DIR edit_gec/annotation/syntax_en         20 minutes on one core
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edit_gec.errors import InputError

PARTS = ["tagger", "morphologizer", "trainable_lemmatizer", "parser"]
# ERRANT's rules name the dependencies of en_core_web_sm; these are the ones UD has under another name.
CLEAR_NAMES = {
    "obj": "dobj",
    "nsubj:pass": "nsubjpass",
    "aux:pass": "auxpass",
    "compound:prt": "prt",
    "nmod:poss": "poss",
}


def train_pipeline(conllu_dir: Path, out: Path, steps: int = 3000) -> dict[str, float]:
    """Train on `*train*.conllu[.xz]` of a folder, keep the best of `*dev*`, save to `out`; returns its dev scores.

    The scores are percentages on gold tokens, one sentence at a time, which is how ERRANT parses.
    """
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train as fit

    with tempfile.TemporaryDirectory() as tmp:
        for split in ("train", "dev"):
            _convert(_find(conllu_dir, split), Path(tmp) / f"{split}.spacy")
        config = init_config(lang="en", pipeline=PARTS, optimize="efficiency")
        config["paths"].update(train=f"{tmp}/train.spacy", dev=f"{tmp}/dev.spacy")
        for corpus in config["corpora"].values():
            corpus["gold_preproc"] = True  # ERRANT parses given tokens, sentence by sentence
        config["training"].update(max_steps=steps, patience=0, eval_frequency=min(steps, 500))
        # Worth 5 LAS together with gold_preproc: 82.4 after 3,000 steps against 77 after 4,000 without both.
        config["training"]["optimizer"]["use_averages"] = True
        (Path(tmp) / "out").mkdir()
        fit(init_nlp(config), Path(tmp) / "out", stdout=sys.stderr, stderr=sys.stderr)
        nlp = spacy.load(Path(tmp) / "out" / "model-best")
        return package_pipeline(nlp, Path(tmp) / "dev.spacy", out)


def package_pipeline(nlp: Any, dev: Path, out: Path) -> dict[str, float]:
    """Shrink a trained pipeline, measure the result on a dev DocBin, name it and save it."""
    _shrink(nlp)
    scores = measure_pipeline(nlp, dev)
    nlp.config["paths"].update(train=None, dev=None)
    nlp.meta.update(
        name="edit_gec_ewt",
        version="1.0",
        description="Tagger, lemmatizer and parser for ERRANT, trained on UD English EWT",
        license="CC BY-SA 4.0",
        sources=[{"name": "UD English EWT", "license": "CC BY-SA 4.0"}],
        spacy_version=">=3.8.0,<4",
        performance=scores,
    )
    nlp.to_disk(out)
    return scores


def measure_pipeline(nlp: Any, docbin: Path) -> dict[str, float]:
    """Tag, part-of-speech, lemma and attachment accuracy in percent, on gold tokens, sentence by sentence."""
    from spacy.training import Corpus

    scores = nlp.evaluate(list(Corpus(docbin, gold_preproc=True)(nlp)))
    return {k: round(100 * scores[k], 2) for k in ("tag_acc", "pos_acc", "lemma_acc", "dep_uas", "dep_las")}


def _shrink(nlp: Any) -> None:
    """Round the weights to half precision. spaCy still reads float32, and compressed files halve in size."""
    import numpy as np

    for _, part in nlp.pipeline:
        for node in part.model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    node.set_param(name, node.get_param(name).astype(np.float16).astype(np.float32))


def _find(folder: Path, split: str) -> Path:
    found = sorted(p for p in folder.glob(f"*{split}*") if p.suffixes[-1:] in ([".conllu"], [".xz"]))
    if len(found) != 1:
        raise InputError(f"{folder}: expected one *{split}*.conllu or .conllu.xz file, found {len(found)}")
    return found[0]


def _convert(conllu: Path, docbin: Path) -> None:
    """CoNLL-U -> spaCy's binary form, 10 sentences to a document."""
    import lzma

    from spacy.tokens import DocBin
    from spacy.training import converters

    opener = lzma.open if conllu.suffix == ".xz" else open
    with opener(conllu, "rt", encoding="utf-8") as lines:
        text = "".join(_simplify(lines))
    convert: Any = converters.conllu_to_docs  # type: ignore[attr-defined]
    docs = convert(text, n_sents=10, no_print=True)
    DocBin(docs=docs, store_user_data=False).to_disk(docbin)


def _simplify(lines: Any) -> Iterator[str]:
    """Drop the features, which ERRANT never reads, and give dependencies the names that it knows."""
    from errant.en.classifier import pos_map

    for line in lines:
        cells = line.split("\t")
        if len(cells) == 10:
            # A tag that ERRANT does not know would stop its classifier.
            cells[4] = cells[4] if cells[4] in pos_map else "XX"
            cells[5] = "_"
            cells[7] = CLEAR_NAMES.get(cells[7], cells[7])
        yield "\t".join(cells)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python profiles/training/syntax_pipeline.py CONLLU_DIR OUT")
    sys.stderr.write(f"{train_pipeline(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
