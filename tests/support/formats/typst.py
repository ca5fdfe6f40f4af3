"""Documents in Typst: what its reader shows, what it leaves out and what stays."""

from __future__ import annotations

from support.formats import Samples, joined

PIECES = (
    "= ", "- ", "+ ", "1. ", "/ ", ": ", "#let x = ", "#set a(", "#if x ", "#a",
    "#a(", "#a[", "#[", "#(", "#{", "#footnote[",
    "#emph[", "#figure(caption: [", ")", "]", "}", "{", "[", "(", '"', "$", "$ ", "`", "```", "//", "/*", "*/", "<a>",
    "@ab", "*", "_", "~", "-?", "---", "\\", "\\#",
    "https://a.b", "word", "Two words.", " ", " ", "\n", "\n", "\n\n",
)  # fmt: skip

SEEN = [
    # code
    ('#import "a.typ": b\n#set text(lang: "en")\n#let f(x) = [\n  She go\n\n  She go\n]\nIt is.\n', ["It is."]),
    ("#show heading: it => {\n  [She go]\n}\n#if x [She go] else [She go]\nIt is.\n", ["It is."]),
    ("// She go\nIt is. /* She\n\ngo */\n", ["It is."]),
    ("#v(1em)\n#a.b(c)[x]\nIt is.\n", ["~x", "It is."]),
    ('#table(columns: 2, [She go], "She go", [x])\nIt is.\n', ["It is."]),
    ("```py\nshe go\n```\nIt is.\n", ["It is."]),
    # blocks
    ("= The parts <a>\nIt is so.\n== More\n", ["~The parts", "It is so.", "~More"]),
    (
        "- one\n  goes on\n+ two\n1. three\n/ Term: its meaning\n",
        ["~one goes on", "~two", "~three", "~Term", "~its meaning"],
    ),
    ('#figure(\n  image("a b.png"),\n  caption: [A *cat*],\n) <a>\nIt is.\n', ["~A cat", "It is."]),
    ("#quote(block: true)[\n  It is so.\n]\nIt is.\n", ["~It is so.", "It is."]),
    ("One \\\ntwo.\n", ["~One two."]),
    # inside a sentence
    ("It is *very _good_*, #emph[so] #text(red)[good].\n", ["It is very good, so good."]),
    ('See #link("http://a.b")[the *guide*] there.\n', ["See the guide there."]),
    ("It is so @ab, but as @fig:cde shows, it is.\n", ["It is so, but as Figure 1 shows, it is."]),
    ("It is#footnote[A note is\nhere.] so.\n", ["It is so.", "~A note is here."]),
    ("It costs \\$5 --- or 5~km -- see https://a.b/c_d//e now.\n", ["It costs $5 — or 5 km – see X now."]),
    ("If $x = y$ and $n$-ary, $10$ are `so it`.\n", ["If x = x and n-ary, 2 are X."]),
    ("We have\n$ x = y $\nwhere it is.\n", ["~We have X where it is."]),
    ("A #name and snake_case (in brackets) [here].\n", ["A X and snake_case (in brackets) [here]."]),
    # unclosed
    ("It is.\n\n#a(She go\n\nShe go.\n", ["It is."]),
    ("It is. $She go.\n\nShe go.\n", ["~It is."]),
]

INLINE = [("Every $n$-ary `a` costs \\$5.", "Every n-ary X costs $5.", ["n", "X", "$5"])]

SAMPLES = Samples(
    format="typst",
    seen=SEEN,
    staying=[],
    inline=INLINE,
    literal=[("```", "```", "`"), ("/*", "*/", "*/")],
    texts=joined(PIECES),
    openers=[*PIECES, "#a(\n", "#a[$", "#a[`", "#a[#b(", "#a.b", "#let a\n", "@a[", "\\u{", "[]", "#a(caption: [x])"],
)
