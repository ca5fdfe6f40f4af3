"""A pair of sentences -> the edit plan that turns one into the other.

    align(source ids, target ids, tokens) -> Plan

Alignment is a monotone longest common subsequence over whole words, with a preference for contiguous runs. Blocks of
two or more pieces that moved are re-used (a pointer move). A word is kept in part only if the kept part is a real stem
(learn|s), never the fragments of a misspelling.
"""

from __future__ import annotations

from collections.abc import Sequence

from edit_gec.editing.plan import Plan
from edit_gec.modeling.tokenizer import Vocabulary
from edit_gec.text.edits import count_shared_ends

MOVED_PIECES = 2  # smallest block that may move: smaller ones are mostly spurious (a "the" re-used eight words away)
STEM_CHARACTERS = 4  # smallest stem that may stay of a changed word
SUFFIX_CHARACTERS = 4  # largest ending that may change on it


def align(source: Sequence[int], target: Sequence[int], tokens: Vocabulary) -> Plan:
    """Plan that turns source ids into target ids (both without sentinels): realize(plan) spells the target exactly."""
    matched = _match_pieces(word_ranges(source, tokens), word_ranges(target, tokens), source, target, tokens)
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


def word_ranges(ids: Sequence[int], tokens: Vocabulary) -> list[tuple[int, int]]:
    """Half-open piece ranges of words: a new one starts at a space, and where letters, digits and signs meet."""
    starts = []
    last = ""
    for n, surface in enumerate(list(map(tokens.surface, ids))):
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


def _match_pieces(
    source_words: list[tuple[int, int]],
    target_words: list[tuple[int, int]],
    source: Sequence[int],
    target: Sequence[int],
    tokens: Vocabulary,
) -> dict[int, int]:
    """target piece -> the source piece that it copies; each source piece at most once."""
    source_keys = [tuple(source[a:b]) for a, b in source_words]
    target_keys = [tuple(target[a:b]) for a, b in target_words]
    matched_words = _match_common(source_keys, target_keys)
    _add_moved_blocks(matched_words, source_keys, target_keys)
    matched: dict[int, int] = {}
    for j, i in matched_words.items():
        for offset in range(len(target_keys[j])):
            matched[target_words[j][0] + offset] = source_words[i][0] + offset
    for i, j in _pair_changed_words(matched_words, len(source_keys), len(target_keys)):
        for offset in range(_count_stem(source_keys[i], target_keys[j], tokens)):
            matched[target_words[j][0] + offset] = source_words[i][0] + offset
    return matched


def _match_common(source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> dict[int, int]:
    """Longest common subsequence of words, weighted by pieces; ties go to contiguous runs."""
    head, tail = count_shared_ends(source, target)
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
    i = head
    j = head
    running = head > 0
    while i < rows and j < columns:
        value = run[i][j] if running else best[i][j]
        if source[i] == target[j] and value == len(source[i]) + run[i + 1][j + 1] + (0.1 if running else 0.0):
            matched[j] = i
            i += 1
            j += 1
            running = True
        elif value == best[i + 1][j]:
            i += 1
            running = False
        else:
            j += 1
            running = False
    return matched


def _add_moved_blocks(matched: dict[int, int], source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> None:
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


def _pair_changed_words(matched: dict[int, int], sources: int, targets: int) -> list[tuple[int, int]]:
    """(source word, target word) that face each other in gaps with as many words on both sides."""
    pairs = []
    previous_i = -1
    previous_j = -1
    for j, i in [*sorted(matched.items()), (targets, sources)]:
        gap = j - previous_j - 1
        if gap and gap == i - previous_i - 1:
            pairs += [(previous_i + 1 + n, previous_j + 1 + n) for n in range(gap)]
        previous_i = i
        previous_j = j
    used = set(matched.values())
    return [(i, j) for i, j in pairs if i not in used]


def _count_stem(source: tuple[int, ...], target: tuple[int, ...], tokens: Vocabulary) -> int:
    """Number of leading pieces that two forms of a word share, 0 unless they make a real stem."""
    shared, _ = count_shared_ends(source, target)
    while shared and any(tokens.is_continuation(w[shared]) for w in (source, target) if shared < len(w)):
        shared -= 1  # never cut a character that is spelt in bytes
    stem = sum(len(tokens.surface(p).lstrip(b" ")) for p in source[:shared])
    endings = [sum(len(tokens.surface(p)) for p in word[shared:]) for word in (source, target)]
    whole = min(endings) == 0 and stem >= STEM_CHARACTERS - 1
    return shared if (stem >= STEM_CHARACTERS or whole) and max(endings) <= SUFFIX_CHARACTERS else 0
