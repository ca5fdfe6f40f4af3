"""Training text: clean sentences from prose corpora.

`prepare` reads the prose files named in `MIX` (one paragraph per line, `.txt` or `.txt.xz`), splits paragraphs into
sentences, keeps the well-edited ones, drops near-duplicates and everything that an evaluation set contains, and writes
one text file, one training unit per line:

    >>> is_clean("She goes to school every day.")
    True
    >>> is_clean("so -- so you know, the, the thing")
    False

Corruption happens later, afresh in every epoch (corrupt.py, train.py); nothing here knows about errors.
"""

from __future__ import annotations

import hashlib
import lzma
import random
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from edit_gec.errors import InputError

# file stem -> (share of its sentences that we keep, smallest number of words)
# Speech and textbooks are nearest to what people write; dated fiction and templated dialogue are capped.
MIX: dict[str, float] = {
    "changelog": 0.45,
    "gutenberg_selected": 0.12,
    "sgd_dialogues": 0.35,
    "openstax_ccby": 1.0,
    "usgov_digitalgov": 1.0,
    "usgov_18f": 1.0,
    "tatoeba_en": 1.0,
    "topical_chat": 0.8,
    "us_speeches": 1.0,
    "gsm8k_questions": 0.4,
    "oasst_en100": 1.0,
    "privacyguides": 0.7,
    "react_dev": 1.0,
    "symfony_docs": 1.0,
    "freecodecamp_guide": 0.7,
    "python_peps": 0.6,
    "eips": 0.3,
    "taskmaster34": 0.5,
}
MAX_WORDS = 60  # longer units are windows of longer texts at run time
JOIN_SHARE = 0.25  # of units are two neighbouring sentences: run-ons and commas need both sides
UNPUNCTUATED_SHARE = 0.5  # of lines without a final stop (headings, list items) are kept

GREETINGS = (
    "Hi", "Hello", "Hi Anna", "Dear Tom", "Dear Sir or Madam", "Dear Ms Brown", "Dear Mr Smith", "Hello everyone",
    "Best regards", "Kind regards", "Best wishes", "Yours sincerely", "Yours faithfully", "All the best", "Love",
    "Thanks", "Many thanks", "Thank you", "Regards", "Sincerely", "Dear friend", "Hey", "Good morning", "Take care",
)  # fmt: skip

_BOUNDARY = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|vs|eg|ie)\.)(?<!\bMrs\.)\s+(?=[\"'“‘(]?[A-Z])")
_NOISE = re.compile(
    r"[{}<>|\\_=^~`*#@\[\]\t�]|https?:|www\.|--|\.\.|…|\b(?:um|uh|uhm|hmm|mhm)\b|\byou know,|\bI mean,|[!?]{2}",
    re.IGNORECASE,
)
_DOUBLED = re.compile(r"\b(\w+),? \1\b", re.IGNORECASE)
_LEGITIMATE_DOUBLES = {"that", "had", "bye", "no", "very", "ha", "knock", "so", "well", "long"}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FINAL = re.compile(r"[.!?][\"'”’)]*$")


def is_clean(sentence: str) -> bool:
    """Whether a sentence looks well edited: whole, no markup, no disfluency, mostly English letters."""
    if _NOISE.search(sentence) or not (sentence[:1].isupper() or sentence.startswith(tuple("\"'“‘(0123456789"))):
        return False
    words = _WORD.findall(sentence)
    letters = sum(map(len, words))
    if not 2 <= len(words) <= MAX_WORDS or letters < 0.65 * len(sentence):
        return False
    if sum(c.isascii() or c in "’‘“”–—é" for c in sentence) < len(sentence):
        return False
    if any(sentence.count(a) != sentence.count(b) for a, b in ("()", "“”")) or sentence.count('"') % 2:
        return False
    doubled = _DOUBLED.search(sentence)
    return doubled is None or doubled.group(1).lower() in _LEGITIMATE_DOUBLES


def fingerprint(sentence: str) -> bytes:
    """Hash of the letters alone, so that case, spacing, digits and punctuation do not hide a duplicate."""
    letters = "".join(c for c in sentence.lower() if c.isalpha())
    return hashlib.blake2b(letters.encode(), digest_size=8).digest()


def read_lines(path: Path) -> Iterator[str]:
    """Stripped lines of a `.txt` or `.txt.xz` file."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield " ".join(line.split())


def units(
    paragraphs: Iterable[str], share: float, rng: random.Random, excluded: Container[bytes] = frozenset()
) -> Iterator[str]:
    """Clean sentences of some paragraphs, some of them joined with their neighbour, `share` of them in all.

    Sentences whose fingerprint is `excluded` are left out.
    """
    for paragraph in paragraphs:
        previous = ""
        for sentence in _BOUNDARY.split(paragraph):
            final = bool(_FINAL.search(sentence))
            if not is_clean(sentence) or (not final and rng.random() > UNPUNCTUATED_SHARE):
                previous = ""
                continue
            if fingerprint(sentence) in excluded:
                previous = ""
                continue
            if rng.random() < share:
                joined = f"{previous} {sentence}"
                fits = previous and len(joined.split()) <= MAX_WORDS
                yield joined if fits and rng.random() < JOIN_SHARE else sentence
            previous = sentence if final else ""


def fragment(sentence: str, rng: random.Random) -> str:
    """A line that is no sentence and needs no correction: a heading, a list item, a greeting.

    Without such lines a model learns that whatever lacks a full stop should get one.
    """
    if rng.random() < 0.2:
        return rng.choice(GREETINGS) + rng.choice((",", ",", "", "!"))
    if rng.random() < 0.06 and sentence.endswith("."):
        return sentence[:-1] + ":"  # a list follows, or a quotation
    if rng.random() < 0.04:
        return sentence.upper()
    words = sentence.split()
    length = min(len(words), rng.randint(1, 6))
    start = rng.randrange(len(words) - length + 1)
    line = " ".join(words[start : start + length]).strip(" .,;:!?\"'“”‘’()-–—")
    style = rng.random()
    title = " ".join(word[:1].upper() + word[1:] for word in line.split())
    if style < 0.3:
        return title if style < 0.2 else line.upper()
    return line[:1].upper() + line[1:] if style < 0.8 else line


def prepare(prose: Path, output: Path, *, exclude: Iterable[Path] = (), seed: int = 1) -> int:
    """Write the training text for one corpora folder, shuffled; returns the number of units.

    `exclude` names evaluation files (plain text or M2): sentences with the letters of one of theirs are dropped.
    Raises InputError if none of the corpora in MIX is in `prose`.
    """
    rng = random.Random(seed)
    lines = (line.removeprefix("S ") for path in exclude for line in read_lines(path))
    excluded = {fingerprint(part) for line in lines for part in (line, *_BOUNDARY.split(line))}
    seen = set(excluded)
    kept: list[str] = []
    for stem, share in MIX.items():
        path = next((p for p in (prose / f"{stem}.txt.xz", prose / f"{stem}.txt") if p.exists()), None)
        if path is None:
            continue
        for unit in units(read_lines(path), share, rng, excluded):
            mark = fingerprint(unit)
            if mark not in seen:
                seen.add(mark)
                kept.append(unit)
    if not kept:
        raise InputError(f"{prose}: none of the corpora ({', '.join(MIX)}) is here; see data/README.md")
    rng.shuffle(kept)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return len(kept)
