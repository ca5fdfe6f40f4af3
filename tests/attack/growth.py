"""No input costs much more than prose of its length, and none more than linear time. `python tests/attack/growth.py`

A stand-in for the network changes the first word of every window; all else is the real path: splitting, vocabulary,
windows, edits, the corrected text. Each input is corrected at three lengths, in processor time of this process (which a
busy machine does not change much). Prints for each input: seconds at the full length, how many times those of prose,
and the exponent of growth from a quarter of the length to all of it. `--memory` corrects one text of so many characters
in stretches instead and prints the peak of the resident memory.

Lengths are in bytes of UTF-8. To each time comes what the network would take on one core (edit5-mini: 7 ms a batch,
0.13 ms a piece). Status 1 where an input takes more than 10 times as long as prose, or grows faster than length ** 1.1
while it takes more than a tenth of the time of prose without the network.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from edit_gec.corrector import Corrector
from edit_gec.editing.batching import ATTENTION_KNEE
from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.text.edits import Change
from edit_gec.text.formats import UNDERSTOOD

PROSE = (Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt").read_text(encoding="utf-8")
MOST_TIMES, MOST_EXPONENT = 10.0, 1.1
BATCH_S, PIECE_S = 0.007, 0.00013

Input = Callable[[int], str]


def repeated(unit: str) -> Input:
    return lambda n: (unit * (n // len(unit) + 1))[:n]


def nested(opening: str, closing: str) -> Input:
    return lambda n: opening * (n // (len(opening) + len(closing))) + closing * (n // (len(opening) + len(closing)))


def noise(alphabet: str) -> Input:
    return lambda n: "".join(random.Random(n).choices(alphabet, k=n))


INPUTS: dict[str, Input] = {
    "one word": repeated("x"),
    "one word of marks": repeated("e\u0301"),
    "one number": repeated("7"),
    "no spaces": repeated("Thewordsgoon,andon."),
    "spaces": repeated(" "),
    "line breaks": repeated("\n"),
    "other line breaks": repeated("a\u2028\x85\v"),
    "short lines": repeated("a\n"),
    "hard wraps": repeated("and the words of this line go on in the next\n"),
    "stops": repeated("."),
    "initials": repeated("A. "),
    "abbreviations": repeated("e.g. "),
    "apostrophes": repeated("a'"),
    "hyphens": repeated("a-"),
    "quotes": repeated('"a" '),
    "commas": repeated("a,"),
    "slashes": repeated("/a"),
    "dots in a word": repeated("a."),
    "underscores": repeated("a_"),
    "digits and letters": repeated("1a"),
    "addresses": repeated("a@b.c "),
    "at signs": repeated("a@"),
    "URLs": repeated("http://a.b/(c "),
    "a URL of brackets": lambda n: "http://a" + "(" * n,
    "emoji": repeated("👩\u200d🚒"),
    "flags": repeated("🇩🇪"),
    "Chinese": repeated("中文。"),
    "right to left": repeated("\u202eab "),
    "zero width": repeated("\u200b\u200d\ufeff"),
    "brackets": nested("(", ")"),
    "open brackets": repeated("["),
    "links": nested("[a](", ")"),
    "half links": repeated("[a]("),
    "images": repeated("![a]["),
    "quotations": nested("> ", "\n"),
    "lists": lambda n: "\n".join(" " * (k % 200) + "- a" for k in range(n // 100)),
    "emphasis": repeated("*a **b "),
    "stars": repeated("*"),
    "backticks": lambda n: " ".join("`" * (k % 300) for k in range(n // 150)),
    "open comments": repeated("<!-- "),
    "open tags": repeated("<a "),
    "elements": nested("<b>", "</b>"),
    "open raw elements": repeated("<script>"),
    "entities": repeated("&amp;"),
    "fences": repeated("```\n"),
    "rows": repeated("| a | b |\n"),
    "one row": repeated("| a "),
    "dollars": repeated("$a "),
    "open math": repeated("$$ "),
    "environments": nested("\\begin{a}", "\\end{a}"),
    "groups": nested("{", "}"),
    "commands": repeated("\\a{"),
    "backslashes": repeated("\\"),
    "directives": repeated(".. a::\n\n   b\n"),
    "roles": repeated(":a:`"),
    "asciidoc blocks": repeated("====\n"),
    "org drawers": repeated(":A:\n"),
    "headings": repeated("# a\n=\n"),
    "equal words": repeated("the "),
    "punctuation": noise(".,;:!?'\"()[]{}<>*_`~#|\\/-+=&%$@^ "),
    "characters": noise("aé中🏠 \t\n.\u0301\u200d\u2028<`*$\\{"),
}

UNITS: dict[str, tuple[str | tuple[str, str], ...]] = {  # repeated, or nested where a tuple says how it closes
    "rst": (
        "`a <b>`_ ", "|a| ", ":a:`b` ", "`", "``", "*", "|", "[a]_ ", "_`a", "`a_ ", "=== ===\n", "+--+\n", "| a\n",
        "- a\n", ":a: b\n", ".. [1] a\n", ".. |a| image:: b\n", "a\n===\n", "::\n\n a\n\n", ">>> a\n", "a::\n",
        "a\n a\n  a\n", "== ==\na  b\n", "\\ ", "a_ ", "__ a\n",
    ),
    "asciidoc": (
        "....\n", "|===\n", "|===\n|a\n", "a::b[", "[[a]", "<<a,", "image::a[\n", "`+", "footnote:[", "**a", "[.a]#b",
        "{a", "+++", "pass:[", "////\n", "a:: b\n", "* a\n+\n", "[a]\n", ".a\n", "--\n", "link:a[", "a\n++++\n", "((a",
        "xref:", "----\n-----\n", "ifdef::a[]\n", ("footnote:[", "]"),
    ),
    "org": (
        "#+BEGIN_A\n", "#+BEGIN_SRC\n", "#+END_A\n", ":A:\n", "[[a]", "[[a][b", "* a\n", "*a ", "/a ", "=a ", "~a ",
        "| a |\n", "[fn:1", "[fn::a ", "\\begin{a}\n", "$a", "<<a", "- a :: b\n", "#+A: b\n", "src_a{", "call_a(",
        "@@a:", "\\(", "{{{a", "<2", "CLOCK: [", ("[fn::", "]"),
    ),
    "latex": (
        "\\begin{a}\n", "\\begin{verbatim}\n", "\\footnote{a ", "\\emph{", "$a", "$$", "\\(", "\\[", "%a\n", "\\verb|",
        "\\verb|a| ", "\\a[", "\\a{b}{c}", "{", "\\item ", "~", "``a'' ", "\\newcommand{\\a}{", "\\section{a", "&",
        "\\def\\a#1{", "\\cite{a} ", "\\\\\n", "a%\n", "\\begin{equation}\n", "\\a*[b]{", ("\\emph{", "}"),
        ("\\footnote{a ", "}"), ("\\begin{a}", "\\end{a}"), ("\\a[", "]"), ("{", "}"), ("\\section{", "}"),
        ("\\begin{itemize}\\item a ", "\\end{itemize}"),
    ),
    "typst": (
        "#a[", "#a(", "#a{", "/*", "//\n", "```", "`", "$", "#let a = ", "#let a\n", "#set a(", "= a\n", "- a\n",
        "<a>", "@a[", "*a ", "_a ", "\\", "\\u{", "#footnote[a ", "#figure(", "#a.b.c", "#if a [", '#"',
        "#show a: it => [", "~", "---", "https://a ", "/ a: b\n", "#a[b](c)", "](", ("#emph[", "]"), ("#a(", ")"),
        ("#footnote[a ", "]"), ("#if a {", "}"), ("#figure(caption: [a ", "])"), ("#let a = [", "]"),
    ),
    "mdx": (
        "<a ", "<A/> ", "<a b={", "{a} ", "{", "}", "<a b='", '<a b="', "</a>", "<>", "import a from 'a'\n",
        "export a\n", "export const a = {\n", "export a\n\n", "{/*", "<A b={1} ", "\\{", ("{", "}"), ("<A>", "</A>"),
        ("<A b={", "}>"), ("<A>\n", "</A>\n"),
    ),
    "subtitles": (
        "1\n00:00:01,000 --> 00:00:02,000\na\n\n", "00:00:01,000 --> 00:00:02,000\n", "1\n", "<i>", "- a\n", "A: ",
        ">> ", "[a", "♪", "{\\a", "00:00:01.0,", "<v ", "<v a>", "-- ", "A A: ",
    ),
    "cue": (
        "[a] ", "(a) ", "♪ ", "<i>a</i> ", "[br]", "A: ", "- ", "[a]\n", "{\\a} ", "<v a>", "A",
    ),
    "mail": (
        "> a\n", "On a\n", "On 1 wrote ", "wrote: ", "--a\n", "From: a\n", "Content-Type: a\n", "-- \n", "```\n",
        "| a\n", "a> a\n", "*From:* a\n", "__", "a, 1\n", ".) ",
    ),
    "commit": (
        "a: ", "[a] ", "a, ", "a(b)", "# a\n", "Fixes: a\n", "    a\n", "- a\n", "a\n\n", "A-by: a\n", "fixup! ",
        "#1 ",
    ),
    "python": (
        '"""', "# a\n", "#", '"""a""" ', "'", '"', "f'{", "r'''", "def a(): #", "#: a\n", "@a\n", "# >>> a\n",
        "# a -> b;", "# :a b:\n", "a\\\n", "x = 1 # a\n", "((((", '\n"""a."""\n', "'''\n", "0x", "class a:\n",
        ("(", ")"), ("f'{", "}'"),
    ),
    "c": (
        "/*", "*/", "//", "/*a*/ ", "//\\\n", "// a\n", "/**\n * @param a\n */\n", '"', "'", "#if a\n",
        "#define a \\\n", "/* a\n", "a(", "{", "<a", "a::", "a a ", ("{", "}"),
    ),
    "javascript": (
        "/*", "/", "`", "`${", "<a>", "// a\n", "/* a */ ", "'", '"', "a=>", "/a/ ", "${", "a?", ("`${", "}`"),
        ("{", "}"),
    ),
    "comment": (
        "a->", "a -> ", "the ", "a( ", "; ", "@a ", ":a ", "   a", "`a", "a: ", "$a ", "a = ", "===> ",
    ),
}  # fmt: skip
CUE = "1\n00:00:01,000 --> 00:00:09,000\n"
# Names in UNITS that are no formats: "cue", the line of one cue; "comment", the line of one comment
HEADS = {"cue": ("subtitles", CUE), "comment": ("python", "# ")}  # what the units stand behind


def nested_boundaries(n: int) -> str:
    """A mail of parts in parts, each with its own boundary, and lines that are none of them."""
    parts = (f"Content-Type: multipart/mixed; boundary=b{k}\n\n--b{k}\n" for k in range(n // 120))
    return cut("From: a\n" + "".join(parts), n // 2) + "\n" + "--x\n" * (n // 8)


def inputs(format: str) -> dict[str, Input]:
    """Those for every format, and those of this one by their units."""
    made = dict(INPUTS)
    for name, units in UNITS.items():
        read_as, head = HEADS.get(name, (name, ""))
        for unit in units if read_as == format else ():
            make = repeated(unit) if isinstance(unit, str) else nested(*unit)
            tail = "." if name == "comment" else ""
            made[f"{head and name} {unit!r}".strip()] = lambda n, make=make, head=head, tail=tail: (  # type: ignore[misc]
                head + make(n - len(head) - len(tail)) + tail
            )
    return made | ({"boundaries": nested_boundaries} if format == "mail" else {})


CODE = ("python", "c", "javascript")
FORMATS = [*(name for name in UNDERSTOOD if name != "code"), *CODE]


class StandIn(EdiT5Predictor):
    """Changes the first word of every window."""

    spent: ClassVar[list[float]] = []

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        longest = max(len(window.pieces) for window in windows)
        self.spent.append(BATCH_S + PIECE_S * longest * len(windows) * (1 + longest / ATTENTION_KNEE))
        return [WindowChanges((self.change(window.pieces),)) for window in windows]

    def change(self, window: Pieces) -> Change:
        last = next((n for n, piece in enumerate(window.ids) if n and self.tokens.starts_word(piece)), len(window))
        return Change(window.starts[0], window.ends[last - 1], "Changed", 0.9)


def stand_in(model: str) -> Corrector:
    real = Corrector.load(model, threads=1)
    return real.with_predictor(StandIn(**vars(real.edit5)))


def seconds(corrector: Corrector, text: str, format: str) -> tuple[float, float]:
    """Processor time of one correction, the least of two, and the estimate for the network."""
    times = []
    for _ in range(2):
        StandIn.spent.clear()
        begun = time.process_time()
        correction = corrector.correct(text, format=format)
        times.append(time.process_time() - begun)
        assert correction.text == text
    return min(times), sum(StandIn.spent)


def cut(text: str, size: int) -> str:
    """The first bytes of a text."""
    return text.encode()[:size].decode(errors="ignore")


def measure_growth(corrector: Corrector, length: int, formats: Sequence[str], names: Sequence[str], own: bool) -> int:
    tried = failed = 0
    prose = sum(seconds(corrector, repeated(PROSE)(length), "text"))
    print(f"prose of {length:,} bytes takes {prose:.2f} s with the network")
    for format in formats:
        print(f"{format}:")
        read_as = f"code/{format}" if format in CODE else format
        for name, make in inputs(format).items():
            if (names and name not in names) or (own and name in INPUTS):
                continue
            short, long = (cut(make(n), n) for n in (length // 4, length))  # some inputs are shorter than asked
            (quarter, _), (whole, network) = (seconds(corrector, text, read_as) for text in (short, long))
            exponent = math.log(max(whole, 1e-3) / max(quarter, 1e-3), len(long) / len(short))
            times = (whole + network) / prose
            bad = times > MOST_TIMES or (exponent > MOST_EXPONENT and whole > prose / 10)
            tried, failed = tried + 1, failed + bad
            how = f"{whole:7.3f} s + network {network:7.3f} s {times:6.2f} x  length ** {exponent:.2f}"
            print(f"  {'FAIL' if bad else 'ok':4} {name:20} {how}")
    print(f"{tried} inputs, {failed} over the bounds")
    return int(failed > 0)


def measure_memory(corrector: Corrector, size: int) -> int:
    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    corrector.correct(repeated(PROSE)(50_000))
    before = peak()
    text = repeated(PROSE)(size)
    begun = time.process_time()
    edits = sum(len(part.edits) for part in corrector.correct_in_stretches(text))
    print(
        f"{size / 1e6:g} MB: {edits:,} edits in {time.process_time() - begun:.1f} s, "
        f"{peak() - before:.0f} MB above the {before:.0f} MB for 50 kB"
    )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--length", type=int, default=100_000)
    parser.add_argument("--format", action="append", choices=FORMATS, help="default: all")
    parser.add_argument("--input", action="append", default=[], help="by its name, as it is printed")
    parser.add_argument("--own", action="store_true", help="only the inputs that are made for one format")
    parser.add_argument("--memory", type=int, metavar="CHARACTERS")
    arguments = parser.parse_args()
    corrector = stand_in(arguments.model)
    if arguments.memory:
        return measure_memory(corrector, arguments.memory)
    return measure_growth(corrector, arguments.length, arguments.format or FORMATS, arguments.input, arguments.own)


if __name__ == "__main__":
    sys.exit(main())
