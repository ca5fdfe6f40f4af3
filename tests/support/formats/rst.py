"""Documents in reStructuredText: what its reader shows, what it leaves out and what stays."""

from __future__ import annotations

from hypothesis import strategies as st

from support.formats import Samples
from support.strategies import nasty

BLOCKS = {
    "title": ("A tiel\n======\n\n=====\n Two\n=====\n\nUs\n--\n", ["~A tiel", "~Two", "~Us"]),
    "transition": ("One is here.\n\n----------\n\nTwo is.\n", ["One is here.", "Two is."]),
    "paragraph": (
        "One line ends\nHere And goes\non. It is.\n\nTwo.\n",
        ["One line ends Here And goes on.", "It is.", "Two."],
    ),
    "quote": (
        "He said\n\n   A quote is\n   indented.\n\n   -- The man\n",
        ["He said", "A quote is indented.", "~The man"],
    ),
    "bullets": (
        "* one is\n  wrapped\n* two\n\n  More of it.\n\n  - three\n  - four\n",
        ["~one is wrapped", "~two", "More of it.", "~three", "~four"],
    ),
    "enumerated": (
        "1. one is\n   wrapped\n2. two\n\n#. three\n(a) four\n\niv) five\n",
        ["~one is wrapped", "~two", "~three", "~four", "~five"],
    ),
    "no item": (
        "It was in the year\n1986. It was\ncold.\n\n1986. It was cold\nand wet.\n",
        ["It was in the year 1986.", "It was cold.", "1986. It was cold and wet."],
    ),
    "marks on one line": ("* - a cell\n  - b cell\n", ["~a cell", "~b cell"]),
    "definitions": (
        "a term : kind\n   What it means\n   in full.\nother term\n   Meaning.\n",
        ["~a term", "What it means in full.", "~other term", "Meaning."],
    ),
    "fields": (
        ":Author: Ann\n:param x: the thing\n   to do\n:type x: int or none\n:returns:\n   a value\n\nIt is.\n",
        ["~the thing to do", "~a value", "It is."],
    ),
    "options": (
        "-a, --all  show it\n           all\n--long=VALUE\n    what is long\n/V  dos\n",
        ["~show it all", "~what is long", "~dos"],
    ),
    "verse": ("| A line of\n  verse\n| Another\n|\n| Last\n", ["~A line of verse", "~Another", "~Last"]),
    "literal": ("Do this::\n\n   some code\n\n  more code\n\nThat is all.\n", ["Do this:", "That is all."]),
    "literal, spaced": ("Do this ::\n\n   some code\n\nDone.\n", ["~Do this", "Done."]),
    "literal, alone": ("Do this.\n\n::\n\n   some code\n\nDone.\n", ["Do this.", "Done."]),
    "literal, quoted": ("Do this::\n\n> some code\n> more\n\n> Done.\n", ["Do this:", "> Done."]),
    "literal without a blank line": ("Do this::\n   some code\n\nDone.\n", ["Do this:", "Done."]),
    "literal in an item": ("- Do::\n\n     some code\n\n  Then do.\n- More\n", ["~Do:", "Then do.", "~More"]),
    "doctest": ("Look:\n\n>>> show the thing\nthe thing\n\nDone.\n", ["Look:", "Done."]),
    "comment": ("..\n   a comment\n\n.. another\n   one\n\n     and more\n\nText.\n", ["Text."]),
    "targets": (".. _a name: http://x.org\n   /more\n.. __: anonymous\n\n__ anonymous\n\nText.\n", ["Text."]),
    "substitution": (".. |name| replace:: other words\n\nText.\n", ["Text."]),
    "footnotes": (
        ".. [1] The note is\n   wrapped.\n.. [#] Two.\n.. [#a] Three.\n.. [Ann99] Four.\n\n   Five.\n",
        ["The note is wrapped.", "Two.", "Three.", "Four.", "Five."],
    ),
    "grid table": ("+----+----+\n| a  | b  |\n+====+====+\n| c  | d  |\n+----+----+\n\nText.\n", ["Text."]),
    "simple table": ("==  ==\na   b\n==  ==\nc   d\n\ne   f\n==  ==\n\nText.\n", ["Text."]),
    "ignored": (".. edit-gec: off\n\nOne.\n\n.. edit-gec: on\n\nTwo.\n", ["Two."]),
    "template": ("{% if it is so %}\nText of {{ a name }}.\n{% endif %}\n", ["Text of {{ a name }}."]),
}
DIRECTIVES = {
    "note": (
        ".. note:: Call me\n   now.\n   :class: red thing\n\n   Then wait.\n\nText.\n",
        ["Call me now.", "Then wait.", "Text."],
    ),
    "warning": (".. warning::\n   :name: a name\n\n   Do not.\n\n   .. tip:: Do.\n", ["Do not.", "Do."]),
    "admonition": (".. admonition:: My\n   title\n   :class: x\n\n   Text is.\n", ["~My title", "Text is."]),
    "sidebar": (".. sidebar:: My title\n   :subtitle: other\n\n   Text is.\n", ["~My title", "Text is."]),
    "rubric": (".. rubric:: My title\n", ["~My title"]),
    "version": (
        ".. versionadded:: 3.1\n.. versionchanged:: 3.2 Gone\n   is it.\n.. deprecated:: 3.3\n   Use it.\n",
        ["Gone is it.", "Use it."],
    ),
    "two versions": (".. deprecated-removed:: 3.1 3.5 Use it.\n", ["Use it."]),
    "figure": (
        ".. figure:: a picture.png\n   :alt: some words\n\n   The caption is\n   here\n\n   The legend.\n",
        ["~The caption is here", "The legend."],
    ),
    "arguments": (
        ".. py:function:: foo(x)\n                 bar(the y)\n   :no-index:\n\n   It returns.\n\n   :param x: thing\n",
        ["It returns.", "~thing"],
    ),
    "only": (
        ".. only:: html and this\n\n   Text is.\n\n   .. container:: some class\n\n      More.\n",
        ["Text is.", "More."],
    ),
    "glossary": (".. glossary::\n\n   the term\n      It means.\n\n   other term\n      Too.\n", ["It means.", "Too."]),
    "list-table": (
        ".. list-table:: The title\n   :widths: 1 2\n\n   * - a cell\n     - b cell\n",
        ["~The title", "~a cell", "~b cell"],
    ),
    "code in a note": (
        ".. note::\n\n   Do::\n\n      some code\n\n   .. code-block:: sh\n\n      more\n\n   So.\n",
        ["Do:", "So."],
    ),
    "in an item": ("- .. note:: In an item.\n\n     More of it.\n- Next\n", ["In an item.", "More of it.", "~Next"]),
}
WITHOUT_PROSE = (
    "code code-block sourcecode literalinclude parsed-literal math raw highlight autoclass toctree include image "
    "contents csv-table productionlist graphviz ipython testcode prompt tab tabs replace index currentmodule unknown "
    "py:currentmodule"
).split()
_BODY = "   :option: value\n\n   Some words.\n\n     More.\n\n   End.\n"
SEEN = [
    *BLOCKS.values(),
    *DIRECTIVES.values(),
    *((f"Look here.\n\n.. {name}:: an argument\n{_BODY}\nDone.\n", ["Look here.", "Done."]) for name in WITHOUT_PROSE),
]
INLINE = [
    ("Use ``some code`` now.", "Use ``some code`` now.", ["``some code``"]),
    ("Use ``a\nb`` and ````x````.", "Use ``a b`` and ````x````.", ["``a b``", "````x````"]),
    ("See :ref:`the text <target>` now.", "See `the text` now.", ["`the text`"]),
    ("See :ref:`the text\n<target>`.", "See `the text `.", ["`the text `"]),
    (":func:`foo` is it.", ":func:`foo` is it.", [":func:`foo`"]),
    ("It (:ref:`text`) is.", "It (:ref:`text`) is.", [":ref:`text`"]),
    ("A `word`:role: is.", "A `word`:role: is.", ["`word`:role:"]),
    ("A `word` is.", "A `word` is.", ["`word`"]),
    ("See `the text <http://x.org>`_ now.", "See the text now.", ["the text"]),
    ("See `the text <a_>`__.", "See the text.", ["the text"]),
    ("See `<http://x.org>`_ now.", "See `<http://x.org>`_ now.", ["`<http://x.org>`_"]),
    (
        "See `the name`_ and name_ or name__.",
        "See `the name`_ and name_ or name__.",
        ["`the name`_", "name_", "name__"],
    ),
    ("Here _`it is` now.", "Here _`it is` now.", ["_`it is`"]),
    ("It *is* **very\nmuch** so.", "It is very much so.", []),
    ("It is 2 * 3 * 4 and *args.", "It is 2 * 3 * 4 and *args.", ["2", "*", "3", "*", "4", "*"]),
    ("A |name| and |other|_ here.", "A |name| and |other|_ here.", ["|name|", "|other|_"]),
    ("A note [1]_ and [#]_ or [#a]_ [Ann99]_.", None, ["[1]_", "[#]_", "[#a]_", "[Ann99]_"]),
    ("Go to http://x.org/a_b now.", "Go to http://x.org/a_b now.", ["http://x.org/a_b"]),
    ("Big *O*\\ (n) it is.", "Big O(n) it is.", []),
    ("A \\*star and ``open.", "A \\*star and ``open.", ["\\*", "``"]),
]
LINES = [
    *("words of prose", "- item", "* - nested", "1. first", "a) b", ":field: body", ":type x: int", "-a, --all  text"),
    *(
        "| verse",
        "| a | b |",
        "::",
        "code follows::",
        "so it is ::",
        ">>> code",
        "...",
        "+---+---+",
        "=== ===",
        "=====",
    ),
    *(
        "-----",
        "-- name",
        ".. note::",
        ".. note:: text",
        ".. code-block:: python",
        ".. figure:: a.png",
        ".. unknown:: x",
    ),
    *("   :option: x", ".. comment", "..", ".. _a: b", ".. |a| image:: b", ".. [1] note", "__ x", ".. glossary::"),
    *(
        ".. versionadded:: 1",
        ".. admonition:: title",
        ".. topic::",
        "``literal``",
        "``open",
        "*emphasis* `a <b>`_",
        "> x",
    ),
    *("**strong", "`text", ":ref:`x <y>`", "{% if x %}", "|name| [1]_", "term : kind", "a\\ b \\* c", "\t- tab", ""),
]
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(["", "", "", " ", "  ", "   ", "    ", "      ", "\t"]), st.sampled_from(LINES) | nasty),
    max_size=24,
).map(lambda rows: "\n".join(indent + line for indent, line in rows))
OPENERS = [
    *(
        "`",
        "``a ",
        "`a ",
        "*a ",
        "**a ",
        "|a ",
        "[a ",
        "{{ ",
        "{% ",
        ":a:",
        "a_ ",
        "<a",
        "\\",
        "``a``a ",
        "_`a ",
        "a :b:`c` ",
        "`a <b>`_ ",
        "a: ",
    ),
    *(
        "- ",
        "1. ",
        "(a) ",
        ":a ",
        ":a: ",
        "-a, ",
        "| ",
        ".. ",
        ".. a::\n",
        "=\n",
        "== ==\n",
        "+--+\n",
        "::\n",
        "a::\n\n",
    ),
    *(
        "\n",
        " \n",
        "- a\n",
        "a\n b\n",
        ">>> a\n",
        "..\n",
        ".. [1] ",
        ".. glossary::\n",
        "-a  ",
        "--a ",
        "\t",
        "- \t",
        "a\n1. a\n",
    ),
]

SAMPLES = Samples(format="rst", seen=SEEN, staying=[], inline=INLINE, literal=[], texts=DOCUMENTS, openers=OPENERS)
