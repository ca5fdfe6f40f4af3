"""The edit plan: which source pieces are kept, in which order, and what is inserted where.

A pair becomes a plan (`align`), a plan becomes text (`realize`) and edits of the source (`spans`). Training, decoding
and auditing share this file. Positions count the start sentinel S as piece 0:

    source   S  i  was  walking ... when  struck  by  bicycle
    target   I was walking ... when I was struck by a bicycle
    tags     K  R  R    K       ... I     K       I   K       (Keep, Replace, Insert behind)
    order    S  walking ... when struck by bicycle
    stream   <extra_id_1> I was <extra_id_6> I was <extra_id_8> a </s>

Slot <extra_id_k> stands after k kept pieces of the re-ordered sentence, S included (EdiT5, section 3; the case study).
Alignment is monotone LCS over whole words with a preference for contiguous runs; blocks of two or more pieces that
moved are re-used (a pointer move); a word is kept in part only if what is kept is a real stem (learn|s), never the
fragments of a misspelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, Pieces, Tokens

MOVED_PIECES = 2  # smallest block that may move: smaller ones are mostly spurious (a "the" re-used eight words away)
STEM_CHARACTERS = 4  # smallest stem that may stay of a changed word
SUFFIX_CHARACTERS = 4  # largest ending that may change on it


@dataclass(frozen=True)
class Plan:
    """Kept pieces in output order (`order[0]` is the sentinel, 0) and insertions (k, ids) with increasing k.

    `length` counts the source pieces with the sentinel. An insertion with number k follows `order[k - 1]`.
    """

    length: int
    order: tuple[int, ...]
    insertions: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything is deleted, moved or inserted."""
        return bool(self.insertions) or self.order != tuple(range(self.length))

    @property
    def moves(self) -> bool:
        """Whether any kept piece leaves the source order."""
        return any(here > there for here, there in pairwise(self.order))

    def tags(self) -> list[int]:
        """One tag per piece [length]: KEEP, DELETE, INSERT or REPLACE."""
        kept = set(self.order)
        opened = {self.order[k - 1] for k, _ in self.insertions}
        tags = []
        gap_open = False
        for i in range(self.length):
            if i in kept:
                gap_open = i in opened
                followed = i + 1 < self.length and i + 1 not in kept
                tags.append(INSERT if gap_open and not followed else KEEP)
            else:
                tags.append(REPLACE if gap_open else DELETE)
        return tags

    def ranks(self) -> list[int]:
        """Position of each piece in the output order [length]; -1 for deleted pieces."""
        ranks = [-1] * self.length
        for rank, i in enumerate(self.order):
            ranks[i] = rank
        return ranks

    def pointers(self) -> list[int]:
        """Successor of each piece [length + 1]: kept ones cycle through the end (`length`), deleted ones loop."""
        chain = [*self.order, self.length]
        successors = list(range(self.length + 1))
        for here, there in zip(chain, [*chain[1:], 0], strict=True):
            successors[here] = there
        return successors

    def anchors(self) -> list[int]:
        """Source piece at which each insertion attaches: the first piece it replaces, or the kept piece before it."""
        return [anchor(self.order[k - 1], self.tags()) for k, _ in self.insertions]

    def stream(self, tokens: Tokens) -> list[int]:
        """The insertion decoder's output: slot, pieces, slot, pieces, ..., </s>; empty when nothing is inserted."""
        if not self.insertions:
            return []
        return [i for k, ids in self.insertions for i in (tokens.slot(k), *ids)] + [EOS]


def anchor(kept: int, tags: Sequence[int]) -> int:
    """Source position where the gap behind a kept piece attaches: its first deleted piece, else the piece itself."""
    following = kept + 1
    return following if following < len(tags) and tags[following] in (DELETE, REPLACE) else kept


def unchanged(length: int) -> Plan:
    """The plan that keeps everything; `length` counts the sentinel."""
    return Plan(length, tuple(range(length)))


# ---------------------------------------------------------------- plan -> text


def realize(plan: Plan, source: Pieces, tokens: Tokens) -> str:
    """Text of the plan. Kept pieces are copied from the source by offset, never re-decoded."""
    inserted = dict(plan.insertions)
    parts = []
    for k, i in enumerate(plan.order, start=1):
        if i:
            parts.append(source.text(i - 1, i))
        if k in inserted:
            parts.append(tokens.decode(inserted[k]))
    text = "".join(parts)
    return text[1:] if source.prefixed and text.startswith(" ") else text


def spans(plan: Plan, source: Pieces, tokens: Tokens) -> list[tuple[int, int, str, tuple[int, int]]]:
    """Edits of the source text: (start, end, replacement, (first, last) piece concerned), disjoint and in order.

    Between two pieces that keep their place, the source text is replaced by the plan's text, moves included. Offsets
    are half-open characters of the source. Applying them gives `realize`'s text.
    """
    inserted = dict(plan.insertions)
    edits = []
    text, previous = tokens.decode(inserted.get(1, ())), 0
    fixed = _fixed(plan.order, source)
    for k, i in [*enumerate(plan.order[1:], start=2), (0, plan.length)]:
        if k and not fixed[k - 1]:
            text += source.text(i - 1, i) + tokens.decode(inserted.get(k, ()))
            continue
        edit = _span(source, previous, i, text)
        if edit:
            edits.append((*edit, (previous, i)))
        text, previous = tokens.decode(inserted.get(k, ())), i
    return edits


def _fixed(order: Sequence[int], source: Pieces) -> list[bool]:
    """Which kept pieces stand where they stood: what is before them in the output was before them in the source.

    Pieces without any text of their own (the first bytes of a character) are no place where an edit could end.
    """
    highest_before = list(accumulate(order, max))
    lowest_after = list(accumulate(reversed(order), min))[::-1]
    return [
        highest_before[n] == i == lowest_after[n] and (i == 0 or source.starts[i - 1] < source.ends[i - 1])
        for n, i in enumerate(order)
    ]


def _span(source: Pieces, before: int, after: int, text: str) -> tuple[int, int, str] | None:
    """Edit that puts `text` between pieces `before` and `after` (both fixed), or None if it stands there already."""
    if text == source.text(before, after - 1):
        return None
    start = source.ends[before - 1] if before else min(source.starts, default=0)
    end = source.starts[after - 1] if after <= len(source) else max(source.ends, default=0)
    if before or not source.prefixed:
        return start, end, text
    # The dummy prefix: the first piece has a space that the source has not, and the output gives up its first space.
    if after == 1 and len(source):
        return start, end, text.removeprefix(" ") + " "
    if not text and after <= len(source) and source.source.startswith(" ", end):
        return start, end + 1, text
    return start, end, text.removeprefix(" ")


# ---------------------------------------------------------------- pair -> plan


def align(source: Sequence[int], target: Sequence[int], tokens: Tokens) -> Plan:
    """Plan that turns source ids into target ids (both without sentinels): realize(plan) spells the target exactly."""
    matched = _match(words(source, tokens), words(target, tokens), source, target, tokens)
    order = [0]
    insertions: list[tuple[int, tuple[int, ...]]] = []
    run: list[int] = []
    for j, piece in enumerate(target):
        i = matched.get(j)
        if i is None:
            run.append(piece)
            continue
        if run:
            insertions.append((len(order), tuple(run)))
            run = []
        order.append(i + 1)
    if run:
        insertions.append((len(order), tuple(run)))
    return Plan(len(source) + 1, tuple(order), tuple(insertions))


def words(ids: Sequence[int], tokens: Tokens) -> list[tuple[int, int]]:
    """Half-open piece ranges of words: a new one starts at a space, and where letters, digits and signs meet."""
    starts, last = [], ""
    for n, piece in enumerate(ids):
        surface = tokens.surface(piece)
        kind = _kind(surface.lstrip(b" "))
        if n == 0 or surface[:1] == b" " or (kind != last and last != "") or kind == "sign":
            starts.append(n)
        last = kind or last
        if surface == b" ":
            last = ""  # a lone space belongs to what follows
    return list(zip(starts, [*starts, len(ids)][1:], strict=True))


def _kind(surface: bytes) -> str:
    if not surface:
        return ""
    first = surface[:1]
    if first.isalpha() or first[0] >= 0x80:
        return "letter"
    return "digit" if first.isdigit() else "sign"


def _match(
    source_words: list[tuple[int, int]],
    target_words: list[tuple[int, int]],
    source: Sequence[int],
    target: Sequence[int],
    tokens: Tokens,
) -> dict[int, int]:
    """target piece -> the source piece that it copies; each source piece at most once."""
    source_keys = [tuple(source[a:b]) for a, b in source_words]
    target_keys = [tuple(target[a:b]) for a, b in target_words]
    words = _common(source_keys, target_keys)
    _add_moves(words, source_keys, target_keys)
    matched: dict[int, int] = {}
    for j, i in words.items():
        for offset in range(len(target_keys[j])):
            matched[target_words[j][0] + offset] = source_words[i][0] + offset
    for i, j in _changed_words(words, len(source_keys), len(target_keys)):
        for offset in range(_stem(source_keys[i], target_keys[j], tokens)):
            matched[target_words[j][0] + offset] = source_words[i][0] + offset
    return matched


def _common(source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> dict[int, int]:
    """Longest common subsequence of words, weighted by pieces; ties go to contiguous runs."""
    head = 0
    while head < min(len(source), len(target)) and source[head] == target[head]:
        head += 1
    tail = 0
    while tail < min(len(source), len(target)) - head and source[-1 - tail] == target[-1 - tail]:
        tail += 1
    matched = {n: n for n in range(head)}
    matched.update({len(target) - 1 - n: len(source) - 1 - n for n in range(tail)})
    rows, columns = len(source) - tail, len(target) - tail
    # best[i][j]: value of source[i:], target[j:]; run[i][j]: the same, given that the pair before was matched too
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    run = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, head - 1, -1):
        for j in range(columns - 1, head - 1, -1):
            skip = max(best[i + 1][j], best[i][j + 1])
            match = len(source[i]) + run[i + 1][j + 1] if source[i] == target[j] else -1.0
            best[i][j] = max(skip, match)
            run[i][j] = max(skip, match + 0.1 if match >= 0 else match)
    i, j, running = head, head, head > 0
    while i < rows and j < columns:
        value = run[i][j] if running else best[i][j]
        if source[i] == target[j] and value == len(source[i]) + run[i + 1][j + 1] + (0.1 if running else 0.0):
            matched[j] = i
            i, j, running = i + 1, j + 1, True
        elif value == best[i + 1][j]:
            i, running = i + 1, False
        else:
            j, running = j + 1, False
    return matched


def _add_moves(matched: dict[int, int], source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> None:
    """Match left-over target runs with equal left-over source runs of MOVED_PIECES or more pieces, longest first."""
    free = set(range(len(source))) - set(matched.values())
    if len(free) < 1 or len(matched) == len(target):
        return
    where: dict[tuple[int, ...], list[int]] = {}
    for i in free:
        where.setdefault(source[i], []).append(i)
    candidates = []
    for j in range(len(target)):
        for i in where.get(target[j], ()) if j not in matched else ():
            length = 0
            while i + length in free and j + length < len(target) and j + length not in matched:
                if source[i + length] != target[j + length]:
                    break
                length += 1
            candidates.append((sum(map(len, target[j : j + length])), -abs(i - j), i, j, length))
    for pieces, _, i, j, length in sorted(candidates, reverse=True):
        block = range(length)
        if pieces >= MOVED_PIECES and length >= 2 and all(i + n in free and j + n not in matched for n in block):
            matched.update({j + n: i + n for n in block})
            free.difference_update(i + n for n in block)


def _changed_words(matched: dict[int, int], sources: int, targets: int) -> list[tuple[int, int]]:
    """(source word, target word) that face each other in gaps with as many words on both sides."""
    pairs = []
    previous_i, previous_j = -1, -1
    for j, i in [*sorted(matched.items()), (targets, sources)]:
        gap = j - previous_j - 1
        if gap and gap == i - previous_i - 1:
            pairs += [(previous_i + 1 + n, previous_j + 1 + n) for n in range(gap)]
        previous_i, previous_j = i, j
    used = set(matched.values())
    return [(i, j) for i, j in pairs if i not in used]


def _stem(source: tuple[int, ...], target: tuple[int, ...], tokens: Tokens) -> int:
    """Number of leading pieces that two forms of a word share, 0 unless they make a real stem."""
    shared = 0
    while shared < min(len(source), len(target)) and source[shared] == target[shared]:
        shared += 1
    while shared and any(tokens.is_continuation(w[shared]) for w in (source, target) if shared < len(w)):
        shared -= 1  # never cut a character that is spelt in bytes
    stem = sum(len(tokens.surface(p).lstrip(b" ")) for p in source[:shared])
    endings = [sum(len(tokens.surface(p)) for p in word[shared:]) for word in (source, target)]
    whole = min(endings) == 0 and stem >= STEM_CHARACTERS - 1
    return shared if (stem >= STEM_CHARACTERS or whole) and max(endings) <= SUFFIX_CHARACTERS else 0
