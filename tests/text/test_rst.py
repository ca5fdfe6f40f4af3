"""reStructuredText: edits keep its structure, indented code is in no sentence, and docutils as the oracle."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.formats import rst
from support.strategies import brief, law

from edit_gec.text.markup import LEFT_OUT, PROTECTED
from edit_gec.text.rst import mark_rst
from edit_gec.text.sentences import split


@pytest.mark.parametrize(
    ("text", "old", "new", "corrected"),
    [
        ("Do as folows::\n\n   code\n", "folows:", "follows.", "Do as follows::\n\n   code\n"),
        ("Do this::\n\n   code\n", "", " now", "Do this::\n\n   code\n"),
        ("Do teh ::\n\n   code\n", "teh", "the.", "Do the ::\n\n   code\n"),
        ("Go to\n:ref:`here` now", "to ", "to the ", "Go to\nthe :ref:`here` now"),
        ("Go\n*there* now", "there", "here", "Go\n*here* now"),
        ("A *word*", "word", "word.", "A *word.*"),
        ("local buid\n==========\n", "buid", "build.", "local build\n==========\n"),
    ],
)
def test_edits_keep_the_structure(text: str, old: str, new: str, corrected: str) -> None:
    (sentence,) = split(text, format="rst")
    at = sentence.text.index(old) if old else len(sentence.text)
    edit = sentence.to_document(at, at + len(old), new)
    assert (text[: edit[0]] + edit[2] + text[edit[1] :] if edit else text) == corrected


@law
@given(
    rst.DOCUMENTS,
    st.sampled_from(["::", ".. code::", ".. x::", ".. A comment", "Words::", ".. |a| b::", ".. _a:"]),
    rst.DOCUMENTS,
)
@example("=== ===", "::", "=== ===\n=== ===\nwords of prose")  # rules further in do not end a table
def test_what_is_indented_behind_code_is_in_no_sentence(before: str, opener: str, body: str) -> None:
    indented = "".join(f"   {line}\n" for line in body.replace("\t", " ").splitlines())
    text = f"{before}\n\nEnd of it.\n\n{opener}\n\n{indented}\nDone.\n"
    start = text.rindex(f"{opener}\n\n{indented}") + len(opener)
    flags = mark_rst(text)
    assert all(flag & LEFT_OUT for flag in flags[start : len(text) - len("Done.\n")])
    assert not flags[len(text) - 3] & LEFT_OUT


WORDS = "apple bread cheese dinner eagle flower garden horse island jungle kitchen lemon mirror night orange".split()


def code_words(text: str) -> set[str]:
    """The words that docutils finds in code and comments; none where it warns, for then it is in doubt itself."""
    core, nodes = pytest.importorskip("docutils.core"), pytest.importorskip("docutils.nodes")
    settings_overrides = {"report_level": 2, "halt_level": 6, "warning_stream": io.StringIO()}
    tree = core.publish_doctree(text, settings_overrides=settings_overrides)
    if any(tree.findall(nodes.system_message)):
        return set()
    blocks = (nodes.literal_block, nodes.doctest_block, nodes.comment, nodes.raw, nodes.math_block)
    inline = (nodes.literal, nodes.substitution_definition, nodes.footnote_reference)
    return {word for kind in blocks + inline for node in tree.findall(kind) for word in node.astext().split()}


TEMPLATES = [
    *("%s", "%s", "- %s", "1. %s", ":%s: body", "| %s", "%s::", "%s ::", "::", ">>> %s", "> %s", ".. %s", "..", ""),
    *(
        "",
        "",
        "",
        "",
        ".. note:: %s",
        ".. note::",
        ".. code:: python",
        ".. topic:: %s",
        ".. math::",
        ".. raw:: html",
        ".. [1] %s",
    ),
    *("``%s``", "*%s*", "*a* ``%s", "%s`` b", "a|%s| |%s|", "   :class: %s", ".. |%s| replace:: a", "====", "-o  %s"),
]


@settings(brief, max_examples=400)
@example([(0, "%s::"), (0, ""), (0, ".. note:: %s"), (1, "%s")])  # a quoted literal block
@example([(0, ".. [1] %s"), (1, ".. note::"), (0, ""), (2, "%s")])  # its "::" ends the paragraph before it
@example([(0, "*a* ``%s"), (0, "- %s"), (0, "%s`` b")])  # an open literal: no mark ends the paragraph
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(TEMPLATES)), max_size=len(WORDS)))
def test_what_docutils_takes_for_code_is_never_edited(rows: list[tuple[int, str]]) -> None:
    text = "\n".join(
        "   " * depth + template.replace("%s", word) for word, (depth, template) in zip(WORDS, rows, strict=False)
    )
    code = code_words(text)
    for sentence in split(text, format="rst"):
        flags = bytearray(len(sentence.text))
        for start, end in sentence.protected:
            flags[start:end] = bytes([PROTECTED]) * (end - start)
        for word in code & set(WORDS):
            at = sentence.text.find(word)
            assert at < 0 or flags[at], (text, word)
