"""Plans: realize(align(source, target)) == target, spans say the same as edits, tags and points rebuild the plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import NASTY, nasty, thousands, valid

from edit_gec.editing.alignment import align, word_ranges
from edit_gec.editing.plan import Plan, realize, spans, unchanged
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, UNK, Pieces, Tokens

WORDS = [*"I was the a walking walk walked learning learns children's isn't , . ; \" 2 2021 o'clock".split(), *NASTY]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A text and what a writer might make of it: words repeated, lost, added, changed, blocks of them moved."""
    source = draw(st.lists(st.sampled_from(WORDS), max_size=12))
    target = list(source)
    for _ in range(draw(st.integers(0, 4))):
        at, length, to = (draw(st.integers(0, len(target))) for _ in range(3))
        block = target[at : at + length]
        change = draw(st.sampled_from(["delete", "move", "repeat", "insert"]))
        if change in ("delete", "move"):
            del target[at : at + length]
        target[to:to] = [draw(st.sampled_from(WORDS))] if change == "insert" else block * (change != "delete")
    space = draw(st.sampled_from([" ", " ", ""]))
    return space.join(source), space.join(target[:30]).encode(errors="ignore").decode()


@st.composite
def plans(draw: st.DrawFn, length: int, tokens: Tokens) -> Plan:
    """Any plan at all for so many pieces: not only those that align would make."""
    kept = draw(st.lists(st.integers(1, length), unique=True)) if length else []
    kept = draw(st.sampled_from([kept, sorted(kept)]))
    gaps = draw(st.lists(st.integers(1, len(kept) + 1), unique=True, max_size=4))
    inserted = st.sampled_from([" I", " was", "s", " ", ",", "🏠", " a b"]).map(lambda text: tokens.ids(text)[1:])
    return Plan(length + 1, (0, *kept), tuple((k, tuple(draw(inserted)) or (UNK,)) for k in sorted(gaps)))


def edited(pieces: Pieces, plan: Plan, tokens: Tokens) -> str:
    """The whole source text with the edits of the plan made, and nothing else."""
    parts, done = [], 0
    for start, end, text, (first, last) in spans(plan, pieces, tokens):
        assert done <= start <= end <= len(pieces.source), "edits come in order and do not overlap"
        assert 0 <= first < last <= len(pieces) + 1
        parts += [pieces.source[done:start], text]
        done = end
    return "".join([*parts, pieces.source[done:]])


def check_consistency(plan: Plan) -> None:
    """Tags, ranks and points say the same as the plan, and with the insertions they are the whole plan."""
    tags, ranks, pointers, anchors = plan.tags(), plan.ranks(), plan.pointers(), plan.anchors()
    kept = [i for i, tag in enumerate(tags) if tag in (KEEP, INSERT)]
    assert sorted(plan.order) == kept
    assert [i for i in plan.order if ranks[i] < 0] == [] and sorted(r for r in ranks if r >= 0) == list(
        range(len(kept))
    )
    order = [0]
    while pointers[order[-1]] != plan.length:
        order.append(pointers[order[-1]])
    assert tuple(order) == plan.order and pointers[plan.length] == 0
    assert all(pointers[i] == i for i in range(plan.length) if i not in kept), "deleted pieces point at themselves"
    assert [ranks[i] for i in order] == list(range(len(order)))
    # the slots that the tags open, behind the kept piece before them, are those of the insertions
    opened = {max(j for j in kept if j <= i) for i, tag in enumerate(tags) if tag in (INSERT, REPLACE)}
    assert opened == {plan.order[k - 1] for k, _ in plan.insertions}
    for (k, _), at in zip(plan.insertions, anchors, strict=True):
        assert at - plan.order[k - 1] in (0, 1) and tags[at] in (INSERT, REPLACE)


# --- laws ------------------------------------------------------------------------------------------------------------


def readable(text: str) -> str:
    """What our vocabulary reads: lone surrogates as "?"."""
    return text.encode(errors="replace").decode()


@thousands
@given(pairs() | st.tuples(nasty, valid))
def test_realize_inverts_align(tokens: Tokens, pair: tuple[str, str]) -> None:
    source, target = (text.replace("▁", "_") for text in pair)  # SentencePiece takes that character for a space
    pieces = tokens.encode(source)
    plan = align(pieces.ids, tokens.ids(target), tokens)
    check_consistency(plan)
    text = realize(plan, pieces, tokens)
    assert readable(text) == readable(target), "what is kept of the unreadable is kept as it is"
    assert text == target or source != readable(source)


@thousands
@given(pairs() | st.tuples(nasty, valid))
def test_realize_inverts_align_up_to_normalisation(t5_tokens: Tokens, pair: tuple[str, str]) -> None:
    source, target = pair
    pieces = t5_tokens.encode(source)
    ids = t5_tokens.ids(target)
    plan = align(pieces.ids, ids, t5_tokens)
    check_consistency(plan)
    # The model learns the normal form; what is kept keeps the spelling of the source (Å for Å, spaces, <unk>).
    inserted = dict(plan.insertions)
    spelt = [*inserted.get(1, ())]
    for k, i in enumerate(plan.order[1:], start=2):
        spelt += [pieces.ids[i - 1], *inserted.get(k, ())]
    assert spelt == ids


@thousands
@given(st.data())
def test_spans_say_what_realize_says(tokens: Tokens, t5_tokens: Tokens, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([tokens, t5_tokens]))
    whole = kind.encode(data.draw(pairs().map(lambda pair: pair[0]) | nasty))
    start = data.draw(st.integers(0, max(0, len(whole) - 1)))
    window = whole.window(start, start + data.draw(st.integers(1, 12)))
    if not window:
        return
    plan = data.draw(plans(len(window), kind))
    check_consistency(plan)
    first, last = window.starts[0], window.ends[-1]
    text = whole.source[:first] + realize(plan, window, kind) + whole.source[last:]
    assert edited(window, plan, kind) == text
    if not plan.changes:
        assert spans(plan, window, kind) == [] and text == whole.source


# --- cases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "tags", "insertions"),
    [
        ("She go home.", "She goes home.", "KKRKK", {2: " goes"}),
        ("He learn quickly.", "He learns quickly.", "KKIKK", {3: "s"}),  # a stem stays
        ("childrens", "children", "KKD", {}),
        ("I recieve it.", "I receive it.", "KKRRRKK", {2: " receive"}),  # "rec" is no stem of "receive"
        ("gooood", "good", "KRRR", {1: " good"}),
        ("the the cat", "the cat", "KKDK", {}),
        ("the cat sat the mat", "the cat sat on the mat", "KKKIKK", {4: " on"}),
        ("I know where is the house.", "I know where the house is.", "KKKKDKIK", {6: " is"}),  # one word: no move
        ("2021", "2022", "KRRRRR", {1: " 2022"}),
        ("🏠 home", "🏡 home", "KRRRRRK", {1: " 🏡"}),  # never a part of a character
        ("", "Hi.", "I", {1: " Hi."}),
        ("Hi.", "", "KDD", {}),
        ("", "", "K", {}),
    ],
)  # fmt: skip
def test_plans(shipped: Tokens, source: str, target: str, tags: str, insertions: dict[int, str]) -> None:
    pieces = shipped.encode(source)
    plan = align(pieces.ids, shipped.ids(target), shipped)
    assert "".join("KDIR"[tag] for tag in plan.tags()) == tags
    assert {k: shipped.decode(ids) for k, ids in plan.insertions} == insertions
    assert realize(plan, pieces, shipped) == target
    assert plan.changes == (source != target)


@pytest.mark.parametrize(
    ("source", "target", "order"),
    [
        ("in the morning we often walk", "we often walk in the morning", (0, 4, 5, 6, 1, 2, 3)),
        ("At the station I met her.", "I met her at the station.", (0, 4, 5, 6, 2, 3, 7)),  # "At" becomes "at"
        ("I know where is it.", "I know where it is.", (0, 1, 2, 3, 5, 6)),  # a single word is written anew
        ("very very good", "very good", (0, 1, 3)),
    ],
)  # fmt: skip
def test_blocks_that_move(shipped: Tokens, source: str, target: str, order: tuple[int, ...]) -> None:
    pieces = shipped.encode(source)
    plan = align(pieces.ids, shipped.ids(target), shipped)
    assert plan.order == order
    assert realize(plan, pieces, shipped) == edited(pieces, plan, shipped) == target


def test_the_case_study(shipped: Tokens) -> None:
    """Nine tokens instead of twenty-seven (ten with T5's vocabulary, which has no piece for " a")."""
    pieces = shipped.encode("i was walking through the park when struck by bicycle... my arm hurts a little now.")
    surfaces = [pieces.text(n, n + 1) for n in range(len(pieces))]
    when, by = surfaces.index(" when") + 1, surfaces.index(" by") + 1
    assert surfaces[: by + 1] == " i, was, walking, through, the, park, when, struck, by, bicycle".split(",")
    i_was, a = shipped.ids("I was"), shipped.ids("a")
    order = (0, *range(3, len(pieces) + 1))
    slots = {0: i_was, when: i_was, by: a}
    plan = Plan(len(pieces) + 1, order, tuple((order.index(at) + 1, tuple(ids)) for at, ids in slots.items()))
    assert [k for k, _ in plan.insertions] == [1, 6, 8]
    stream = plan.stream(shipped)
    assert stream == [shipped.slot(1), *i_was, shipped.slot(6), *i_was, shipped.slot(8), *a, EOS]
    assert len(stream) == 9
    assert plan.tags()[:11] == [KEEP, REPLACE, REPLACE, KEEP, KEEP, KEEP, KEEP, INSERT, KEEP, INSERT, KEEP]
    assert plan.anchors() == [1, when, by]
    assert realize(plan, pieces, shipped) == (
        "I was walking through the park when I was struck by a bicycle... my arm hurts a little now."
    )


def test_nothing_to_insert_is_no_stream(shipped: Tokens) -> None:
    assert unchanged(5).stream(shipped) == [] and not unchanged(5).changes
    assert unchanged(3).tags() == [KEEP] * 3 and unchanged(3).pointers() == [1, 2, 3, 0]
    assert Plan(3, (0, 2)).tags() == [KEEP, DELETE, KEEP] and Plan(3, (0, 2)).pointers() == [2, 1, 3, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't.", [" I", " don", "'", "t", "."]),
        ("walking learns", [" walking", " learns"]),
        ("x2, 10%", [" x", "2", ",", " 10", "%"]),
        ("x..", [" x", ".", "."]),
        ("Zoë's 🏠🏠", [" Zoë", "'", "s", " 🏠🏠"]),
        ("a  b", [" a", " ", " b"]),
    ],
)  # fmt: skip
def test_words(shipped: Tokens, text: str, expected: list[str]) -> None:
    pieces = shipped.encode(text)
    assert [pieces.text(start, end) for start, end in word_ranges(pieces.ids, shipped)] == expected


def test_spans_are_small_and_disjoint(shipped: Tokens) -> None:
    pieces = shipped.encode("  The\tcat go 🏠 ,and  sleeps")
    plan = align(pieces.ids, shipped.ids("  The\tcat goes 🏠, and  sleep"), shipped)
    assert edited(pieces, plan, shipped) == "  The\tcat goes 🏠, and  sleep"
    assert [span[:3] for span in spans(plan, pieces, shipped)] == [
        (9, 12, " goes"), (14, 15, ""), (16, 19, " and"), (26, 27, "")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "order", "insertions", "edits"),
    [
        ("I I é I", (0, 4, 6), {}, [(0, 6, "")]),  # of é the first byte is kept, the second is not
        ("The cat", (0, 2), {}, [(0, 4, "")]),
        ("The cat", (0, 1, 2), {1: " So"}, [(0, 0, "So ")]),
        ("The cat", (0, 2), {1: " A"}, [(0, 3, "A")]),
        ("The cat", (0,), {}, [(0, 7, "")]),
        ("The cat", (0,), {1: " A"}, [(0, 7, "A")]),
        ("The cat", (0, 2, 1), {}, [(0, 7, "cat The")]),
        ("The cat", (0, 1, 2), {3: "."}, [(7, 7, ".")]),
        (" The", (0, 2), {}, [(0, 1, "")]),
    ],
)  # fmt: skip
def test_the_first_word_has_no_space(
    shipped: Tokens, text: str, order: tuple[int, ...], insertions: dict[int, str], edits: list[tuple[int, int, str]]
) -> None:
    """Which SentencePiece puts before it, and which an edit at the start must not leave behind."""
    pieces = shipped.encode(text)
    ids = {k: shipped.ids(new.strip())[new[0] != " " :] for k, new in insertions.items()}
    plan = Plan(len(pieces) + 1, order, tuple((k, tuple(new)) for k, new in ids.items()))
    assert [span[:3] for span in spans(plan, pieces, shipped)] == edits
    assert edited(pieces, plan, shipped) == realize(plan, pieces, shipped)
