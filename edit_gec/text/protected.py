"""Protected spans: what a corrector must not touch in a sentence, because it is not words.

    Mail ann@example.org by 10:30, see src/main.py 😀
         ^^^^^^^^^^^^^^^    ^^^^^      ^^^^^^^^^^^ ^

URLs, e-mail addresses, @handles, #tags, paths, file names, identifiers, flags, variables, placeholders, entities,
LaTeX commands, numbers with dates, versions and units, and symbols. Words with an apostrophe or a hyphen, capitals
and ordinary punctuation are not protected: they are what gets corrected. "21th" protects only "21". A line of code is
protected as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

STARTERS = frozenset(
    "The A An I He She It We They You My His Her Our Their Your Its This That These Those There Then Here But And So "
    "Or If When While After Before Because Although Though However Also In On At For From To With As By What Why Who "
    "How Where Which Is Are Was Were Do Does Did Can Could Will Would Should Have Has Yes No Not Now Once Some Many "
    "Most All Finally First Second Moreover Therefore Furthermore Please Let Maybe Perhaps Suddenly Yesterday Today "
    "Tomorrow One Another Every Everyone Everything People Thank Thanks Nobody Nothing Sometimes Since Until".split()
)  # words that begin a sentence far more often than a name: "home.Then" is two sentences, "node.Js" is a name

# White-space tokens with something in them besides letters and plain punctuation; only these are looked at closely.
_PLAIN = ",;!?'\"()\\-–—‘’“”….:"
_ODD = re.compile(
    rf"(?<!\S)(?:[^\W\d_]|[{_PLAIN}])*?"
    rf"(?:[\d_]|[^\w\s{_PLAIN}]|(?<=[a-z])[A-Z]|(?<=\w)(?:\.\w|:[\w:/]|\(\)|-\w*\d|->)|--?\w)\S*"
)

_EXTENSIONS = (
    "py|pyi|ipynb|js|jsx|ts|tsx|md|rst|txt|tex|bib|pdf|docx?|xlsx?|pptx?|odt|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|"
    "css|scss|png|jpe?g|gif|svg|webp|mp3|mp4|wav|zip|gz|tgz|tar|bz2|xz|7z|exe|dll|so|sh|bat|ps1|c|h|cc|cpp|hpp|rs|go|"
    "java|kt|rb|php|pl|lua|sql|ini|cfg|conf|env|log|bak|lock|safetensors|parquet"
)
_DOMAINS = "com|org|net|edu|gov|mil|int|info|biz|io|dev|app|ai|eu|uk|us|de|fr|es|ch|at|nl|se|pl|ru|cn|jp|kr|br|au|ca"
_UNITS = (  # written right after the number
    "[kcmµnd]?m[²³]?|[kmµ]?g|[mcd]?l|[kMGTP]i?[Bb](?:/s|ps)?|[kMG]?Hz|[kM]?Wh?|m?[AVs]|min|hrs?|h|km/h|mph|[ap]\\.?m|"
    "AM|PM|°?[CF]|K|px|pt|r?em|x|%|°|k|M|bn|ft|in|lbs?|oz|fps|dpi"
)
_SPACED_UNITS = "[kcm]m[²³]?|[km]g|ml|[kMGTP]i?B|[kMG]Hz|kWh?|km/h|mph|ms|%|°[CF]?"  # no words: "at 5 in the morning"
_STARTER = "|".join(sorted(STARTERS))
_NUMBER = r"[\d\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209f\u2150-\u218b]"
_PROTECTED = re.compile(
    # base64: long, with small letters, capitals and digits
    r"(?<![\w+/=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}(?![\w+/=-])"
    # a scheme, an address, a domain
    r"|(?<![\w+.-])(?:[a-zA-Z][a-zA-Z0-9+.-]{1,15}://|mailto:|tel:|www\.)"
    r"(?:[^\s<>\"“”()]|\([^\s<>\"“”()]*\))+(?<![.,;:!?'’*_\]])"
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|(?<![\w.-])(?:[\w-]+\.)+(?:{_DOMAINS})\b(?![\w-])(?:/[^\s<>\"“”()]*(?<![.,;:!?'’*_\]]))?"
    r"|(?<![\w@.])@\w+(?:[.-]\w+)*|(?<![\w#&])#\w+(?:-\w+)*"
    # variables, flags, placeholders, entities, format specifiers, LaTeX
    r"|\$\{[^{}\s]{0,80}\}|(?<![\w$])\$[A-Za-z_]\w*|(?<![\w-])--[A-Za-z][\w-]*(?:=[^\s,;)]*)?"
    r"|(?<![\w-])-[A-Za-z]\b(?!-)"
    r"|\{[^{}\s]{0,80}\}|<[A-Za-z_][\w.:-]{0,60}>"
    r"|(?<![^\W\d_])[^\W\d_]*&(?:apos|[lr]squo|#0?39|#821[67]|#[xX](?:27|201[89]));[^\W\d_]*"  # It&#39;s
    r"|&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][\dA-Fa-f]{1,6});"
    r"|(?<![\w%])%(?:\(\w{1,40}\))?[-+#0]?\d{0,3}(?:\.\d{1,3})?[sdifgxr]\b"
    r"|\\[A-Za-z]+\*?"
    # paths and files
    r"|(?<![\w./\\~])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?=[\w.])[\w.+@-]+(?:[/\\][\w.+@*-]*)*(?<!\.)"
    rf"|(?<![\w./\\+-])(?:[\w.+-]+[/\\])*[\w.+-]*\w\.(?:{_EXTENSIONS})\b(?![\w/])"
    # settings: explain=True, length=1
    r"|(?<![\w=.-])[A-Za-z][\w.-]*=[\w.'\"/+-]*\w"
    # identifiers: foo(), snake_case, Foo::Bar, a->b, camelCase, mp3, COVID-19, a.b.c, System.Text
    r"|(?<![\w.])\w+(?:\.\w+)*\(\)"
    r"|(?<![\w./:-])(?=[\w./:-]*_)[\w./:-]*\w"
    r"|(?<![\w:>-])\w+(?:(?:::|->)\w+)+(?:\(\))?"
    r"|(?<!\w)[^\W\d_]+(?:-?\d+\w*|-\d+)(?:[.-]\d\w*)*"
    r"|(?<![\w.])[^\W\d_]\w*(?:\.\w+){2,}(?!\.?\w)"
    rf"|(?<![\w.])(?:[A-Z]\w*\.(?!(?:{_STARTER})\b)[A-Z]\w*|\w+\.(?!(?:{_STARTER})\b)[A-Z][a-z]?\b)(?:\(\))?"
    r"|(?<![\w.])[a-z]\w*\.[A-Za-z][a-z]*[A-Z]\w*(?:\(\))?"
    r"|(?<!\w)(?:[a-z]+|[A-Z][a-z]+)(?:[A-Z][a-z0-9]+)+[A-Z]?\b|(?<!\w)[a-z]{1,3}[A-Z]{1,4}\b"
    # numbers: 3.5, 10:30, 2024-05-01, 1,000, 5 km, 3D, 0xff
    rf"|(?<!\w)0[xX][\dA-Fa-f]+\b|[-+±]?[$€£¥]?{_NUMBER}+(?:[.,:/’'×^\-–]{_NUMBER}+)*"
    rf"(?:-?(?:a|b|rc|dev|post|alpha|beta)\.?\d+|(?:{_UNITS})(?!\w)|[A-Z]\b)?"
)
_SYMBOL = re.compile(r"[^\w\s.,;:!?'\"()\[\]\-–—‘’“”…«»/&%]+|_+")
_SPACED = re.compile(  # the ones with a space in them
    rf"(?<=[\d²³½¼¾])[ \u00a0\u202f-](?:{_SPACED_UNITS})(?!\w)"
    # "goin' home"; a spaced ellipsis
    r"|(?<!\w)[A-Za-z]{2,}in['’](?!\w)|(?<![\w.])\.(?:[ \u00a0]\.){2,}"
    # gaps of columns and of justified lines; a manual page: execve(2)
    r"|(?<=\S)[ \t]{3,}(?=\S)|(?<![\w.-])[\w.-]{1,60}\(\d[a-z]{0,2}\)(?!\w)"
    # groups of digits: a telephone number, an IBAN
    r"|(?<![\w.,])[+(]{0,2}\d{1,6}\)?(?:[ \u00a0/-]\(?\d{2,8}\)?){2,12}(?!\w)"
    r"|(?<![\w.,])\(?(?:\+\d|0)\d{0,5}\)? \d{3,9}(?!\w)"
    r"|(?<!\w)[A-Z]{2}\d{2}(?: [\dA-Z]{4}){2,7}(?: [\dA-Z]{1,4})?(?!\w)"
    r"|\{\{[^{}]{0,200}\}\}|\{%[^{}%]{0,80}%\}|\{ ?[^{}\s]{0,80} ?\}|\{(?:[:.#]|@[a-z])[^{}]{0,160}\}"
    r"|\{(?=[^{}=]{0,80}\w=[\"'\w])[^{}]{0,200}\}"
    r"|\\(?:[a-z]*cite[a-z]*|(?:page|eq|auto|c|C)?ref|label|url|begin|end|input|include\w*|usepackage|bibliography\w*)"
    r"\*?(?:\[[^\[\]]{0,80}\])?\{[^{}]{0,200}\}"
    r"|(?<![\w.])[A-Za-z_]\w{0,40}(?:\.\w{1,40})+\((?:[^()\n]|\([^()\n]{0,80}\)){0,80}\)"  # np.zeros((3, 4))
)

_CODE = re.compile(  # signs of a line of code: a call, an operator, a brace that stands alone, an option, `;` after it
    r"\w\((?!e?s\))|[=!<>+*/|-]=|=>|->|:=|&&|\|\||(?<=[\w)\]]) [<>=*] (?=[\w(\[\"'])|(?<!\S)[{}](?!\S)|\{\Z"
    r"|(?<=\s)--?[A-Za-z]|\w@\d|;\Z"
)
_WORD = re.compile(r"(?<![\w'@/.-])[A-Z]?[a-z]{2,}(?![\w(@/]|-\w)")  # not SELECT, nor the name of a call
_SENTENCE = frozenset("the an to of and or are was were be been by you we it this that they he she his my your".split())


def is_code(view: str) -> bool:
    """Is a text a line of code? It has two signs of it, few words, and none of those that hold a sentence together.

    >>> is_code("for i in range(10): print(i * i)"), is_code("Call load(x) and save(x) before you leave the room.")
    (True, False)
    """
    signs = len(_CODE.findall(view.strip()))
    if signs < 2:
        return False
    words = _WORD.findall(view)
    return len(words) <= 3 * signs and _SENTENCE.isdisjoint(map(str.casefold, words))


def find(view: str) -> Iterator[tuple[int, int]]:
    """Half-open spans of `view` that must stay as they are; they may touch or overlap."""
    if is_code(view):
        yield 0, len(view)
    for token in _ODD.finditer(view):
        for span in _PROTECTED.finditer(view, *token.span()):
            yield span.span()
        for symbols in _SYMBOL.finditer(view, *token.span()):
            yield from _symbols(view, *symbols.span())
    for spaced in _SPACED.finditer(view):
        yield spaced.span()


def _symbols(view: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The symbols in view[start:end], each with the marks and joiners that follow it; letters' own marks are left."""
    symbol = False
    for index in range(start, end):
        category = unicodedata.category(view[index])
        symbol = (symbol and category[0] == "M") or category[0] in "SC" or view[index] in r"*\@#§•†‡¶_{}"
        if symbol:
            yield index, index + 1
