"""A word that moves is one change, not an insertion beside a deletion.

    always can bring    insert "always" after "can", delete it before     -> "can always", one change
    equal components    insert "components", delete it                    -> left out: adjectives and nouns stay

The model writes a moved word at its new place and deletes it at the old one. Either half alone breaks the sentence, so
they are joined. Adverbs, auxiliaries and pronouns move for a reason. Other words do not: none of 21 such moves on the
development sets was right (profiles/LOG.md). An inserted noun, verb or adjective that stands nearby is left out, too:
it is half of a move. Articles, prepositions and conjunctions do not count: what looks like a move is two errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edit_gec.text.edits import Change, apply_changes, fit_to_words

FARTHEST = 3  # words that a word moves past
NEAR = 200  # characters in which these stand
_MOVABLE = frozenset(
    "not never always also only just already often usually still ever even now then soon again too very really so "
    "probably perhaps maybe sometimes rarely seldom almost quite rather here there both all each such is are was were "
    "am be been being has have had do does did will would can could shall should may might must it he she they we you "
    "i this that who what where when why how".split()
)
_TWO_ERRORS = frozenset(
    "a an the of to in on at for with by from as about into and or but if because than like my your his her its our "
    "their".split()
)


def join_moves(source: str, changes: Sequence[Change]) -> Iterator[Change]:
    """The changes of a sentence, in order: the two halves of a move as one change, with the lower confidence.

    >>> halves = [Change(2, 7, "", 0.8), Change(10, 10, " also", 0.7)]
    >>> [change[:3] for change in join_moves("I also can help.", halves)]
    [(2, 10, 'can also')]
    >>> list(join_moves("a horror training story", [Change(1, 8, "", 0.5), Change(17, 17, " horror", 0.5)]))
    []
    """
    n = 0
    while n < len(changes):
        pair = changes[n : n + 2]
        moved = find_moved_word(source, *pair) if len(pair) == 2 else ""
        if not moved and not repeats(source, changes[n]):
            yield changes[n]
        elif moved and (is_movable(moved) or any(map(is_movable, source[pair[0].end : pair[1].start].split()))):
            yield join(source, *pair)
        n += 2 if moved else 1


def find_moved_word(source: str, first: Change, second: Change) -> str:
    """The word that one of two changes deletes and the other inserts, a few words away; "" if there is none."""
    gone, here = (source[change.start : change.end].strip().casefold() for change in (first, second))
    there, new = (change.replacement.strip().casefold() for change in (first, second))
    word = gone if gone == new and not here and not there else here if here == there and not gone and not new else ""
    passed = source[first.end : second.start].split()
    is_near = 1 <= len(passed) <= FARTHEST and all(each.isalpha() for each in passed)
    return word if is_near and word.isalpha() and word not in _TWO_ERRORS else ""


def repeats(source: str, change: Change) -> bool:
    """Whether a change does nothing but insert a noun, a verb or an adjective that stands a few words away: half of a
    move whose other half is too unsure."""
    word = change.replacement.strip().casefold()
    if source[change.start : change.end].strip() or not word.isalpha() or is_movable(word) or word in _TWO_ERRORS:
        return False
    before = source[max(0, change.start - NEAR) : change.start].split()[-FARTHEST - 1 :]
    after = source[change.end : change.end + NEAR].split()[: FARTHEST + 1]
    return word in map(str.casefold, (*before, *after))


def is_movable(word: str) -> bool:
    """Whether a word can stand at several places of a sentence."""
    return word.casefold() in _MOVABLE or word.casefold().endswith("ly")


def join(source: str, first: Change, second: Change) -> Change:
    """Two changes as one over the text between them, with the lower confidence."""
    start, end = first.start, second.end
    parts = [each._replace(start=each.start - start, end=each.end - start) for each in (first, second)]
    text = apply_changes(source[start:end], parts)
    return Change(*fit_to_words(source, start, end, text), min(first.confidence, second.confidence))
