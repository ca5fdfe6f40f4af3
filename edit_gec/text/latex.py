r"""LaTeX -> its prose: commands left out, what they print kept or stood in for.

    >>> latex("We has \\emph{very} good results~\\cite{a} on 50\\% of $x$. % todo\n").view
    'We has very good results [1] on 50% of X. '

No TeX runs here: macros of one's own are taken to print their arguments. Magic lines such as `% edit-gec: ignore` stay
in the view, where the sentence splitter looks for them.
"""

from __future__ import annotations

import re

from edit_gec.text.annotated import Annotated
from edit_gec.text.views import View

_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<magic>%[ \t]*edit-gec:[^\n]*)"
    r"|(?P<comment>%[^\n]*\n?[ \t]*)"
    r"|\\begin\s*\{(?P<environment>verbatim|lstlisting|minted|comment|filecontents|tikzpicture|tabularx?|longtable|array"
    r"|algorithm(?:ic)?|equation|align|alignat|gather|multline|eqnarray|displaymath|math|thebibliography)(?P<star>\*?)\}"
    r"(?s:.*?)\\end\s*\{(?P=environment)(?P=star)\}"
    r"|\\(?:begin|end)\s*\{(?P<around>[^{}]*)\}(?:\[[^\]]*\])?"
    r"|(?P<display>\$\$(?s:.*?)\$\$|\\\[(?s:.*?)\\\])"
    r"|(?P<math>\$(?:\\.|[^$\\])+\$|\\\((?s:.*?)\\\))"
    r"|\\verb\*?(?P<bar>[^\w\s])[^\n]*?(?P=bar)"
    r"|\\(?P<name>[A-Za-z@]+)(?P<starred>\*?)(?P<options>(?:[ \t]*\[[^\]\n]*\])*)[ \t]*"
    r"|\\(?P<escaped>[%&$#_{}])"
    r"|\\(?P<space>[\\ ,;:!/@-])(?:\[[^\]]*\])?"
    r"|(?P<accent>\\[`'^\"~=.])"
    r"|(?P<quote>``|''|~)"
    r"|(?P<brace>[{}])"
)
_ARGUMENT = re.compile(r"\s*(?:\[[^\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})")

CITES = re.compile(r"(?:[Cc]ite|[Pp]arencite|[Tt]extcite|[Ff]ootcite|[Aa]utocite|nocite)\w*")
REFS = re.compile(r"\w*ref|pageref|S")
SILENT = frozenset(  # commands whose arguments are not printed as prose
    "label input include includegraphics usepackage documentclass bibliography bibliographystyle addbibresource url "
    "vspace hspace newcommand renewcommand providecommand newenvironment setlength setcounter definecolor color "
    "pagestyle thispagestyle graphicspath hypersetup newtheorem DeclareMathOperator lstset lstinline mintinline ce SI "
    "si num texttt index fontsize selectlanguage input geometry vskip hskip rule tikzset bibitem".split()
)
HEADINGS = frozenset(
    "part chapter section subsection subsubsection paragraph subparagraph title caption author".split()
)
STAND_INS = {"LaTeX": "LaTeX", "TeX": "TeX", "ldots": "...", "dots": "...", "textquotesingle": "'", "par": "\n\n"}
BREAK = "\n\n"


def latex(text: str) -> Annotated:
    """The prose of a LaTeX document, or of a part of one."""
    view = View(text)
    start, end = body.span(1) if (body := _BODY.search(text)) else (0, len(text))
    headings: list[bool] = []  # for each open brace: does what it holds stand alone?
    heading = False
    while found := _TOKEN.search(text, start, end):
        view.text(start, found.start())
        start, kind = found.end(), found.lastgroup
        if kind == "magic":
            view.text(*found.span())
        elif kind == "brace":
            if found[0] == "{":
                headings.append(heading)
            elif headings and headings.pop():
                view.stand_in(BREAK)
            heading = False
        elif found["name"]:
            start = _command(view, found, end)
            heading = found["name"] in HEADINGS
            if heading and text[start : start + 1] != "{":
                heading = False
        elif found["escaped"]:
            view.text(found.end() - 1, found.end())
        else:
            view.stand_in(_stand_in(found))
    view.text(start, end)
    return view.done()


def _stand_in(found: re.Match[str]) -> str:
    """What is read in the place of a token that has no text of its own."""
    if found["environment"] or found["around"] is not None:
        return BREAK
    if found["display"]:
        return " X "
    if found["math"] or found["bar"]:
        return "X"
    if found["quote"]:
        return " " if found[0] == "~" else '"'
    return " " if found["space"] and found["space"] not in "/@-!" else ""


def _command(view: View, found: re.Match[str], end: int) -> int:
    """Read a command's arguments where they are not prose; returns where to go on."""
    name, at = found["name"], found.end()
    if name == "item":
        view.stand_in(BREAK)
        return at
    cites, refs = CITES.fullmatch(name), REFS.fullmatch(name)
    if name == "href":
        argument = _ARGUMENT.match(view.document, at, end)
        return argument.end() if argument else at
    if cites or refs or name in SILENT:
        while argument := _ARGUMENT.match(view.document, at, end):
            at = argument.end()
        view.stand_in(
            "[1]" if cites and name != "nocite" else "1" if refs else "X" if name in ("url", "texttt") else ""
        )
        return at
    if name in STAND_INS:
        view.stand_in(STAND_INS[name])
        if view.document.startswith("{}", at):
            return at + 2
        return found.start() + 1 + len(name) if name.startswith(("ldots", "dots")) else at
    return at
