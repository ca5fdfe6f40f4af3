"""Laws of sentences.py (nothing lost, nothing touched that must stay), then tables of cases to read, then its speed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.timing import is_linear, repeat

from edit_gec.text.boundaries import LONGEST
from edit_gec.text.markup import LEFT_OUT, regions
from edit_gec.text.sentences import Sentence, split

NASTY = [
    *"\n\n\n\r\t.!?*_`[](){}<>|#-~$\\\"'“”:;/@%&=+^0aAbI \u00a0\u2028\u0301é中。😀\u200d\u202e",
    *("\r\n", " ", "the ", "He go. ", "\n\n", "\n> ", "> ", "- ", "1. ", "# ", "```\n", "~~~", "<!--", "-->", "<b>"),
    *("</b>", "<p>", "<pre>", "</pre>", "**", "__", "~~", "](x)", "](", "[^1]", "![", "$$", "\\[", "\\]", "---\n"),
    *("edit-gec: ignore\n", "edit-gec: off\n", "edit-gec: on\n", "    x = 1;\n", "| a | b |\n", "|---|\n", "\\\n"),
    *("http://a.b/c", "x@y.org", "foo_bar", "3.5 kg", "e.g. ", "U.S. ", "home.Then", "\\begin{align}", "\\end{align}"),
]
nasty = st.lists(st.sampled_from(NASTY), max_size=40).map("".join) | st.text(max_size=60)
insertions = st.sampled_from(["", "x", " y", "z ", "two words", ", ", "-", "é😀", " "])

law = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure


# --- laws --------------------------------------------------------------------------------------------------------


@law
@given(nasty, st.booleans(), st.booleans())
def test_view_is_the_document_at_its_offsets(text: str, lines: bool, markup: bool) -> None:
    last = 0
    for sentence in split(text, lines=lines, markup=markup):
        view, offsets, folds = sentence.text, sentence.offsets, dict(sentence.folds)
        assert len(offsets) == len(view) + 1
        assert offsets[0] >= last
        assert all(low < high for low, high in pairwise(offsets))
        assert not view or offsets[-1] == offsets[-2] + 1
        assert view == view.strip()
        assert lines or (view and len(view.splitlines()) == 1)
        for at, character in enumerate(view):
            original = text[offsets[at]]
            if at in folds:
                assert character == " " and original.isspace()
                assert text.startswith(folds[at], offsets[at]) and folds[at].splitlines() != [folds[at]]
            else:
                assert character == original
        last = offsets[-1]


@law
@given(nasty)
def test_plain_text_loses_only_white_space(text: str) -> None:
    seen = "".join(sentence.text for sentence in split(text, markup=False))
    assert re.sub(r"\s", "", seen) == re.sub(r"\s", "", text)


words = st.lists(
    st.sampled_from("cat we went Tom. then? and old **red** [link](a.md) <i>so</i> 12 well!".split()), min_size=1
)
prefixes = st.sampled_from(["", "- ", "> ", "# ", "1. ", "   ", "> - "])


@law
@given(st.lists(st.tuples(prefixes, words), max_size=8), st.sampled_from(["\n", "\r\n", "\n\n", "\r"]))
def test_every_word_of_prose_is_in_one_sentence(document: list[tuple[str, list[str]]], newline: str) -> None:
    text = newline.join(prefix + " ".join(line) for prefix, line in document)
    seen = " ".join(sentence.text for sentence in split(text))
    for mark in ("**", "<i>", "</i>", "[", "](a.md)"):
        text = text.replace(mark, "")
    assert re.findall(r"[a-zA-Z]+", seen) == re.findall(r"[a-zA-Z]+", text)


@law
@given(nasty)
def test_left_out_regions_are_in_no_sentence(text: str) -> None:
    flags = regions(text.replace("\r\n", " \n").replace("\r", "\n"))
    for sentence in split(text):
        folds = dict(sentence.folds)
        for at, offset in enumerate(sentence.offsets[:-1]):
            assert at in folds or not flags[offset] & LEFT_OUT


@law
@given(nasty, st.booleans())
def test_protected_spans_are_ordered_and_inside(text: str, lines: bool) -> None:
    for sentence in split(text, lines=lines):
        edges = [edge for span in sentence.protected for edge in span]
        assert edges == sorted(set(edges)) and all(0 <= edge <= len(sentence.text) for edge in edges)


@law
@given(nasty, st.data())
def test_projected_edits_touch_nothing_else(text: str, data: st.DataObject) -> None:
    edits: list[tuple[int, int, str]] = []
    for sentence in split(text):
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(sentence.text))] * 2)))
        edit = sentence.to_document(start, end, data.draw(insertions))
        if edit and (not edits or edits[-1][1] <= edit[0]):
            edits.append(edit)
            _check_edit(text, sentence, edit)
    corrected, pieces, done = text, [], 0
    for start, end, replacement in reversed(edits):
        corrected = corrected[:start] + replacement + corrected[end:]
    for start, end, replacement in edits:
        pieces += [text[done:start], replacement]
        done = end
    assert corrected == "".join(pieces) + text[done:]
    assert len(re.findall(r"\r\n|\r|\n", corrected)) == len(re.findall(r"\r\n|\r|\n", text))


def _check_edit(text: str, sentence: Sentence, edit: tuple[int, int, str]) -> None:
    """The edit removes view characters only, none of them protected, and the folds in it come back in order."""
    start, end, replacement = edit
    assert sentence.offsets[0] <= start <= end <= sentence.offsets[-1]
    kept_offsets = {}
    for at in range(len(sentence.text)):
        kept_offsets[sentence.offsets[at]] = at
    folds, offset = dict(sentence.folds), start
    while offset < end:
        at = kept_offsets[offset]  # KeyError: something left out is swallowed
        assert not any(low <= at < high and at not in folds for low, high in sentence.protected)
        if at in folds:
            _before, found, replacement = replacement.partition(folds[at])
            assert found
        offset += len(folds.get(at, "x"))
    assert offset == end


@law
@given(nasty, st.data())
def test_projection_is_the_same_edit_of_the_view(text: str, data: st.DataObject) -> None:
    """Splitting by hand: the view after the edit reads as the model wanted it, folds shown as spaces."""
    for sentence in split(text, markup=False):
        sentence = replace(sentence, first=False, last=False)  # of what a block forbids there is less
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(sentence.text))] * 2)))
        replacement = data.draw(insertions)
        edit = sentence.to_document(start, end, replacement)
        if edit:
            first, last = sentence.offsets[0], sentence.offsets[-1]
            corrected = text[first : edit[0]] + edit[2] + text[edit[1] : last]
            wanted = sentence.text[:start] + replacement + sentence.text[end:]
            assert re.sub(r"\s+", " ", corrected) == re.sub(r"\s+", " ", wanted)


@law
@given(nasty)
def test_one_sentence_a_line(text: str) -> None:
    lines = re.split(r"\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    assert [s.text for s in split(text, lines=True, markup=False)] == [line.strip() for line in lines]
    assert len(split(text, lines=True)) == len(lines)


# --- tables: "|" marks the boundary ------------------------------------------------------------------------------

BOUNDARIES = """
It rains. We stay in.|2
By 5 p.m. we met Dr. Hay. it was late.Then we slept.|3
Mr. Brown met Dr. Ada Stone. They spoke.|2
The U.S. Navy left at 5 p.m. yesterday.|1
We arrived at 5 p.m. She was there.|2
He lives in the U.S. The city is small.|2
I like fruit, e.g. apples, i.e. food.|1
J. R. Miller wrote it.|1
It costs 3.50 or 4.00 now.|1
See No. 5 and Fig. 3 below.|1
I said no. He left.|2
Pens, paper, etc. are here. Take them, etc. We wait.|3
Acme Inc. bought it. Acme Inc. The end.|3
Well... maybe. I do not know.|2
We waited... Then it came.|2
Well... I think so.|1
Really?! Yes! OK.|3
"Really?" he asked. "Yes." She nodded.|3
“Go away.” Then he left.|2
(He went home.) Then he slept.|2
He came (?) late. He sat.|2
He left," she said. "|1
They met Ann P. Stone and J. Ode.|1
1. First we eat. 2. Then we sleep.|2
i like it. it is good.|2
what is it? i don't know|2
I went home.Then I slept.|2
It was late!Why did you wait?We left.|3
I use node.Js every day.|1
The word is system.Threading.Timer here.|1
See www.example.org. It is nice.|2
Mail ann@example.org. She answers.|2
Open https://example.org/a.Then?b=1 now.|1
He was born on 5 Jan. 1990. He is old.|2
We met on Oct. 5 and on Mon. morning.|1
it is bad . It is good .|2
Is it ? yes it is|2
The blvd. near us is wide.|1
我喜欢。他也喜欢。|2
Version 2.0.1 is out. Get it.|2
He is in class B. My friend too.|2
Use `a. B` here. Good.|2
St. Mary lives on Main St. in town.|1
""".strip().splitlines()


@pytest.mark.parametrize("case", BOUNDARIES)
def test_boundaries(case: str) -> None:
    text, count = case.rsplit("|", 1)
    assert len(split(text)) == int(count), [sentence.text for sentence in split(text)]


PROTECTED = [
    ("pay to NL00 ABCD 0123 4567 89 now", ["NL00 ABCD 0123 4567 89"]),
    ("Tel. +44 20 7946 0999, or (020) 7946099.", ["+44 20 7946 0999", "(020) 7946099"]),
    ("in 2019 200 people came", ["2019", "200"]),
    ("See https://example.org/a_(b)?c=d. Now", ["https://example.org/a_(b)?c=d"]),
    ("at www.example.org, or example.org/x", ["www.example.org", "example.org/x"]),
    ("mail ann.b+c@example.co.uk.", ["ann.b+c@example.co.uk"]),
    ("ask @ann or #help-me", ["@ann", "#help-me"]),
    ("in `the codes` here", ["`the codes`"]),
    ("in ``a ` b`` here", ["``a ` b``"]),
    ("in <code>the codes</code> here", ["<code>the codes</code>"]),
    ("open main.py and notes.txt.", ["main.py", "notes.txt"]),
    ("in /usr/local/bin, ~/x or ./a/b", ["/usr/local/bin", "~/x", "./a/b"]),
    ("in src/main.rs or C:\\Temp\\x", ["src/main.rs", "C:\\Temp\\x"]),
    ("call doThing or DoThing", ["doThing", "DoThing"]),
    ("a snake_case_name and __init__", ["snake_case_name", "__init__"]),
    ("call foo() and a.b()", ["foo()", "a.b()"]),
    ("Foo::Bar and this->that", ["Foo::Bar", "this->that"]),
    ("use --force=yes or -x", ["--force=yes", "-x"]),
    ("set explain=True, a.b=1 (or x='y').", ["explain=True", "a.b=1", "x='y"]),
    ("so a = b or c== d", ["=", "=="]),
    ("set $HOME or ${x}", ["$HOME", "${x}"]),
    ("it is 0xFFee and #ff00aa", ["0xFFee", "#ff00aa"]),
    ("pay $3.50 or 1,000,000", ["$3.50", "1,000,000"]),
    ("5 km, 3kg, 20 % and 3D", ["5 km", "3kg", "20 %", "3D"]),
    ("at 5 in the morning", ["5"]),
    ("on 2024-05-01 at 10:30am", ["2024-05-01", "10:30am"]),
    ("version v1.2.3 of mp3", ["v1.2.3", "mp3"]),
    ("from 3.12.0a6 or 2.0-rc1 on", ["3.12.0a6", "2.0-rc1"]),
    ("the 21th day", ["21"]),
    ("a 10-year-old boy", ["10"]),
    ("COVID-19 spread", ["COVID-19"]),
    ("so $a_1 + b$ costs $5 or $6", ["$a_1 + b$", "$5", "$6"]),
    ("so \\(a + b\\) and \\alpha", ["\\(a + b\\)", "\\alpha"]),
    ("as in \\cite[see]{a, b} here", ["\\cite[see]{a, b}"]),
    ("dear {name} or {{ name }} or <name>", ["{name}", "{{ name }}", "<name>"]),
    ("found %s of %d", ["%s", "%d"]),
    ("a&nbsp;b &amp; c", ["&nbsp;", "&amp;"]),
    ("good 😀 👩\u200d👧 ❤\ufe0f", ["😀", "👩\u200d👧", "❤\ufe0f"]),
    ("a + b → c", ["+", "→"]),
    ("cafe\u0301 and naïve", []),
    ("don't, well-known, he/she (or) “so” NASA", []),
    ("i went home.then he go", []),
    ("for i in range(10): print(i * i)", ["for i in range(10): print(i * i)"]),
    ("if (x == null) { return; }", ["if (x == null) { return; }"]),
    ("git commit -m fix --amend", ["git commit -m fix --amend"]),
    ("first item;", []),
    ("bring your friend(s) and child(ren); she go (and he too);", []),
    ("call load(x) and save(x) before you leaves the room", []),
    ("i has 5 > 3 reason to go", ["5", ">", "3"]),
]


@pytest.mark.parametrize(("text", "spans"), PROTECTED)
def test_protected(text: str, spans: list[str]) -> None:
    found = [sentence.text[start:end] for sentence in split(text) for start, end in sentence.protected]
    assert found == spans


def test_nothing_is_put_before_or_behind_a_line_of_code() -> None:
    (sentence,) = split("if (x == null) { return; }")
    end = len(sentence.text)
    assert (
        sentence.to_document(0, 0, "Then ")
        is sentence.to_document(end, end, ".")
        is sentence.to_document(0, 2, "If")
        is None
    )
    (sentence,) = split("she go home")
    assert sentence.to_document(11, 11, ".") == (11, 11, ".")


def test_a_sentence_that_ends_in_a_quoted_one_gets_no_second_full_stop() -> None:
    for text, may_end in (("It becomes `You are right.`", False), ("It becomes `You are right`", True)):
        (sentence,) = split(text)
        end = len(sentence.text)
        assert (sentence.to_document(end, end, ".") is not None) == may_end, text


LAYOUT = [
    ("we went\nto the\r\n  shop", ["we went to the shop"]),
    ("> we went\n> to the shop\nI replied", ["we went to the shop", "I replied"]),
    ("// we went\n// home", ["we went home"]),
    ("# My trip\nWe went home", ["My trip", "We went home"]),
    ("My trip\n=======\nit was", ["My trip", "it was"]),
    ("My trip\nLast summer we\nwent home", ["My trip", "Last summer we went home"]),
    (
        "Here is what you need to know, and for more refer\nto [it](/a).",
        ["Here is what you need to know, and for more refer to it."],
    ),
    (
        "To see all of them in one place, refer to the\n[Maps page](https://maps.example.org/all) and the rest.",
        ["To see all of them in one place, refer to the Maps page and the rest."],
    ),
    (
        "The older of the two maps in this book is that of\nLondon by Ann, and then there is the newer\n[one](https://maps.example.org/all/of/them/together).",
        ["The older of the two maps in this book is that of London by Ann, and then there is the newer one."],
    ),
    ("Ann Stone\n12 Main Road\nLondon", ["Ann Stone 12 Main Road", "London"]),
    ("- one\n- two\n  goes on\n1) three", ["one", "two goes on", "three"]),
    ("- [ ] to do\n* [x] done", ["to do", "done"]),
    ("it was in the year\n1986. then it ended", ["it was in the year 1986.", "then it ended"]),
    ("| He go | 5 |\n|---|:--|\n| we | |", ["He go", "5", "we"]),
    ("a | b\n--|--\nc | d", ["a", "b", "c", "d"]),
    ("one\n\n---\n\n* * *\n\ntwo", ["one", "two"]),
    ("---\ntitle: a b\n---\nText", ["Text"]),
    ("+++\ntitle = 1\n+++\nText", ["Text"]),
    ("a\n\n```py\nx = 'He go'\n```\nb", ["a", "b"]),
    ("a\n\n> ~~~~\n> code\n> ~~~\n> ~~~~\nb", ["a", "b"]),
    ("a\n\n    for (x) {\n      y();\n    }\n\nb", ["a", "b"]),
    ("    An indented paragraph that\n    is only prose.", ["An indented paragraph that is only prose."]),
    ("a <!-- b c --> d", ["a d"]),
    ("a <!-- b\nc --> d", ["a d"]),
    ("a <!-- b c", ["a <!-- b c"]),
    ("<script>\nlet a = 1;\n</script>\n<p>Hi <b>you</b></p><p>there</p>", ["Hi you", "there"]),
    ("<pre>a\nb</pre> <code>\nc</code> d", ["d"]),
    ("so\n$$\na = b\n$$\nit is", ["so", "it is"]),
    ("\\begin{align}\na\n\\end{align}\nwhere", ["where"]),
    ("\\section{My trip}\nwe went", ["\\section{My trip}", "we went"]),
    ("a [link\ntext](http://x.y 'z') b ![img](c.png) d", ["a link text b d"]),
    ("a [b][c] and [d]\n\n[c]: http://x.y", ["a b and [d]"]),
    ("end.[^1] Next\n\n[^1]: the note", ["end.", "Next", "the note"]),
    ("**a** *b* ***c*** _d_ ~~e~~ __F__ 2 * 3 * 4 a_b_c", ["a b c d F 2 * 3 * 4 a_b_c"]),
    ("H<sub>2</sub>O<br>ice", ["H2O", "ice"]),
    ("keep\nnot me edit-gec: ignore\nkeep", ["keep", "keep"]),
    ("<!-- edit-gec: ignore-next-line -->\nnot me\nkeep", ["keep"]),
    ("a\n<!-- edit-gec: off -->\nb\n\nc\n<!-- edit-gec: on -->\nd", ["a", "d"]),
    ("a\u00a0b\u2003c", ["a\u00a0b\u2003c"]),
    ("one\\\ntwo", ["one two"]),
    ("so\n$$\na\n$$\nit is, $$ not math $$", ["so", "it is, $$ not math $$"]),
    ("so:\n\n    done with the\n    first thing\n\n    and more\n\nit is", ["so:", "it is"]),
    ("so\n\n    It was late, and we all went home.\n", ["so", "It was late, and we all went home."]),
    ("- so\n\n    it goes on\n\n[^1]: one\n\n    two", ["so", "it goes on", "one", "two"]),
    (
        '!!! note "A Title"\n    The text.\n\n??? tip\n    Two.\n\n!!! but this is prose.',
        ["The text.", "Two.", "!!! but this is prose."],
    ),
    ('=== "Tab"\n\n    The text.', ["The text."]),
    ("> [!NOTE]\n> The text.\n\n> [!tip]- Title\n> Two.", ["The text.", "Two."]),
    ("import A from './a';\nimport \"b\"\n\nexport const c = 1\n\nimport this from there", ["import this from there"]),
    ("[TOC]\n\nA.\n{: .wide .new }\n\n*[HTML]: The text", ["A.", "The text"]),
    ("Term\n: What it is\n:   More", ["Term", "What it is", "More"]),
    ("a [[Page One|text]] and [[Page Two]]", ["a text and [[Page Two]]"]),
    ("A test\n~~~~~~\nIt is.\n\nTwo\n~~~~\nand so", ["A test", "It is.", "Two", "and so"]),
    ("<table>\n  <tr>\n    <td>one</td>\n    <td>two\n    three</td>\n</table>", ["one", "two three"]),
    ("{% highlight c %}\nx y\n{% endhighlight %}\na {% if x %}b{% endif %}", ["a b"]),
    (
        "Use {% link a.md %} here. <% if x %>It is.<% end %> {{#if y}}They do.{{/if}}",
        ["Use {% link a.md %} here.", "It is.", "They do."],
    ),
    ('<p><?= t("a b") ?> We go.</p>\n<p>We <%= go %> The way.</p>', ["We go.", "We <%= go %> The way."]),
    ('{{< highlight go >}}\nx y\n{{< /highlight >}}\na\n{{< figure src="x"\n  title="y" >}}\nb', ["a", "b"]),
    ("", []),
    (" \n\t\n", []),
]


def test_html_is_read_however_deep_it_is_indented() -> None:
    text = "<!DOCTYPE html>\n<body>\n      <p>It is (here); <b>so</b>\n      Ann\n      goes on.</p>\n      <p>Two</p>"
    assert [sentence.text for sentence in split(text, format="html")] == ["It is (here); so Ann goes on.", "Two"]


@pytest.mark.parametrize(
    ("format", "code"), [("markdown", "```sh\nmake\n```"), ("markdown", "    make"), ("asciidoc", "----\nmake\n----")]
)
def test_what_goes_on_after_code_is_a_fragment(format: str, code: str) -> None:
    text = f"It is time to call\n\n{code}\n\nand to wait for it.\n\nthis is new.\n\n{code}\n\nthis is new, too."
    assert [sentence.fragment for sentence in split(text, format=format)] == [False, True, False, False]


def test_a_heading_below_its_tag_is_a_fragment() -> None:
    text = "<h1 align='center'>\n  <b>Read and mend</b>\n</h1>\n\n<p>\nWe go.\n</p>\n\n<Note>\nWe go.\n</Note>\n"
    assert [sentence.fragment for sentence in split(text, format="mdx")] == [True, False, False]


@pytest.mark.parametrize(("text", "views"), LAYOUT)
def test_layout(text: str, views: list[str]) -> None:
    assert [sentence.text for sentence in split(text)] == views


# (document, old words in the view, new words, corrected document or None)
PROJECTIONS = [
    ("he go home", "go", "goes", "he goes home"),
    ("see the\nthe cat", " the cat", " cat", "see the\ncat"),
    ("see the\r\n> the cat", "the the", "the", None),  # no lead on the first line: two paragraphs
    ("> see the\r\n> the cat", "the the", "the", "> see the\r\n> cat"),
    ("> see the\n> the the cat", "the the the", "the", "> see the\n> cat"),
    ("we can\nnot go", "can not", "cannot", "we cannot\ngo"),
    ("we can\nnot", "can not", "cannot", "we\ncannot"),
    ("can\nnot", "can not", "cannot", None),
    ("we has\n  been there", "has been", "had become", "we had\n  become there"),
    ("one\ntwo\nthree", "two ", "", None),
    ("go home\nnow then", "home ", "", "go\nnow then"),
    ("go home\nnow then", "now ", "", "go home\nthen"),
    ("we **has** met", "has", "have", "we **have** met"),
    ("we **have** met", "have met", "met", None),
    ("a **very** day", "very", "", None),
    ("**very** nice", "very", "", None),
    ("the **the** cat", " the", "", "**the** cat"),
    ("**bold** text", "bold", "bolder", "**bolder** text"),
    ("**bold** text", "bold ", "bold, ", "**bold**, text"),
    ("the **cat** x", "the cat", "the big cat", "the big **cat** x"),
    ("so **happy** x", "happy", "unhappy", "so **unhappy** x"),
    ("[he go](a_b.md) on", "go", "goes", "[he goes](a_b.md) on"),
    ("run `make` now", "`make`", "`made`", None),
    ("run `make`now", "`make`now", "`make` now", "run `make` now"),
    ("use foo_bar now", "foo_bar", "foo_bars", None),
    ("the `Enum`s are", "`Enum`s", "`Enum`", None),
    ("the x`Enum` is", "x`Enum`", "`Enum`", None),
    ("ensure `x` is", "ensure `", "ensure`", None),
    ("run `x` now", "` now", "`now", None),
    ("run `x` .", "` .", "`.", "run `x`."),
    ("the 21th day", "21th", "21st", "the 21st day"),
    ("the 2 days", "2", "20", None),
    ("the 2 days", "2 ", "two ", None),
    ("ok", "ok", "ok", None),
    ("so it is", "it", "it\nis", None),
    ("gone", "gone", "", None),
    ("tab\tand\u00a0more é😀 word", "word", "words", "tab\tand\u00a0more é😀 words"),
    ("- item go\n  on", "go on", "goes on", "- item goes\n  on"),
    ("a<!-- c -->\nb <!-- d\n --> cat", "b cat", "b cats", "a<!-- c -->\nb <!-- d\n --> cats"),
]


@pytest.mark.parametrize(("text", "old", "new", "corrected"), PROJECTIONS)
def test_project(text: str, old: str, new: str, corrected: str | None) -> None:
    results = []
    for sentence in split(text):
        at = sentence.text.find(old)
        if at >= 0 and (edit := sentence.to_document(at, at + len(old), new)):
            results.append(text[: edit[0]] + edit[2] + text[edit[1] :])
    assert results == ([] if corrected is None else [corrected])


def test_project_rejects_spans_outside() -> None:
    with pytest.raises(ValueError, match="span 1:9 of a sentence with 5 characters"):
        split("Hello")[0].to_document(1, 9, "x")


def test_insertion_at_the_end() -> None:
    assert split("so *it is*\n")[0].to_document(5, 5, ".") is not None
    assert split("so it is\n")[0].to_document(8, 8, ".") == (8, 8, ".")


# --- size --------------------------------------------------------------------------------------------------------

UNITS = [
    *(
        "[",
        "](",
        "[a](",
        "![",
        "`",
        "` `` ``` ",
        "<",
        "<a ",
        "<!--",
        "<code>",
        "<pre>",
        "$",
        "$$a\n\n",
        "\\(a",
        "\\[\n",
    ),
    *("**a ", "_a", "~~a ", "((a ", "{{", "{%", "&a", "a.", "a-", "a@", "a@a.", "/a", "a/", "\\cite{", "\\cite[", "1."),
    *(
        "-1",
        "a_",
        "a::",
        "aA",
        "...",
        '"',
        "(a.",
        "1. ",
        "\n",
        "> ",
        "-",
        "--a ",
        "|",
        "| a |\n",
        "    a(\n",
        "=\n",
        " \n",
    ),
    *("%(", "😀", "e\u0301", "x://", "http://a(", "```\n~~~\n", "[^", "[a]: b.c\n", "edit-gec: off ", "\\begin{align}"),
]


@pytest.mark.parametrize("unit", UNITS)
def test_no_input_takes_quadratic_time(unit: str) -> None:
    assert is_linear(split, repeat(unit), 16_000)


def test_a_long_word_before_a_symbol_takes_linear_time() -> None:
    assert is_linear(split, lambda size: "X" * size + "\\v", 16_000)


def test_a_line_of_a_million_characters() -> None:
    text = "the children was going home by 5 km of road, " * 22_223
    sentences = split(text)
    assert " ".join(sentence.text for sentence in sentences) == text.rstrip()  # cut at spaces
    assert all(len(sentence.text) <= LONGEST and isinstance(sentence.offsets, range) for sentence in sentences)
    assert len(sentences) <= 2 * len(text) / LONGEST
    assert [sentence.first for sentence in sentences] == [True] + [False] * (len(sentences) - 1)


def test_a_word_of_a_million_characters() -> None:
    text = "x" * 1_000_000
    assert [len(sentence.text) for sentence in split(text)] == [LONGEST] * (len(text) // LONGEST)


def test_a_document_of_twenty_thousand_lines() -> None:
    text = "they was there for\n- **one** pen.\n" * 10_000
    assert len(split(text)) == 20_000


@pytest.mark.parametrize("gap", ["   ", "      ", "\t\t\t"])
def test_gaps_of_columns_and_names_of_manual_pages_stay(gap: str) -> None:
    (sentence,) = split(f"However,{gap}Linux uses it, see execve(2) for more.")
    kept = {sentence.text[start:end] for start, end in sentence.protected}
    assert {gap, "execve(2)"} <= kept
    start = sentence.text.index(gap)
    assert sentence.to_document(start, start + len(gap), " - ") is None
    start = sentence.text.index("execve")
    assert sentence.to_document(start, start + 6, "execute") is None


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(("first", "rest"), [("", ""), ("- ", "  "), ("1. ", "   "), ("> ", "> ")])
def test_display_math_of_words_is_no_prose(first: str, rest: str, line_break: str) -> None:
    text = f"{first}$${line_break}{rest}teh{line_break}{rest}$${line_break}"
    assert not [sentence.text for sentence in split(text) if "teh" in sentence.text]
