r"""Which characters of a document are prose, and which are code, markup, math or addresses.

    >>> text = "Run `make` *now*."
    >>> "".join("x" if masked else c for c, masked in zip(text, mask_markup(text, "markdown")))
    'Run xxxxxx xnowx.'

A judge of damage must not share the blind spots of the corrector, so this module is independent of the readers in
text/. It only measures: rules of a format that are rare in edited documents are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ADDRESS = r"(?:https?|ftp|mailto|git|ssh)://?[^\s<>\"'`)\]}|]+|\bwww\.[^\s<>\"'`)\]}|]+|\b[\w.+-]+@[\w-]+\.[\w.-]+\w"
_TAG = r"</?[A-Za-z][^<>]*>|<!--[\s\S]*?-->|&[#\w]+;"
_FRONT_MATTER = r"\A(?P<fence>---|\+\+\+)[ \t]*\n[\s\S]*?\n(?P=fence)[ \t]*$"
_MATH = (
    "equation|align|alignat|gather|multline|eqnarray|displaymath|math|[vV]erbatim|alltt|lstlisting|minted|tikzpicture"
    "|array|tabular|comment|algorithmic|thebibliography"
)

# What is not prose in each format. Where a pattern has a group `only`, just that group is masked. "^" and "$" match at
# every line.
_PATTERNS: dict[str, tuple[str, ...]] = {
    "markdown": (
        _FRONT_MATTER,
        r"^[ \t>]*(?:[-*+]\s+|\d+[.)]\s+)*(?P<code>`{3,}|~{3,})[\s\S]*?(?:^[ \t>]*(?P=code)[`~]*[ \t]*$|\Z)",
        r"(?:\A|(?<=\n\n))(?P<only>(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)])\s).*(?:\n(?: {4}|\t).*)*)",  # indented code
        r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n)[\s\S])+?(?<!`)(?P=ticks)(?!`)",
        r"^(?:import|export)\s.*(?:from|=|\{).*$",  # MDX
        r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)|\]\[[^\]\n]*\]|^[ \t]*\[[^\]\n]+\]:\s.*$",
        r"\$\$[\s\S]+?\$\$|(?<![\\$\w])\$(?=[^\s$])[^$\n]*?[^\s$\\]\$(?!\w)",
        r"^[ \t]*(?:>[ \t]*)*(?:#{1,6}\s|[-*+]\s(?:\[[ xX]\]\s)?|\d+[.)]\s)|^[ \t]*>",
        r"^[ \t]*\|?[\s:|-]*-{2,}[\s:|-]*\|?$|^[ \t]*=+$",
        r"[|\[\]]|\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|:[a-z_+]+:|\\.|\{[{%#@][^{}\n]*\}+",
        _TAG,
    ),
    "html": (
        _FRONT_MATTER,
        r"(?i)<(?P<raw>script|style|pre|code|kbd|samp|tt|var|svg|math)\b[\s\S]*?</(?P=raw)>",
        r"<!DOCTYPE[^>]*>|<\?[^>]*>|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}",
        _TAG,
    ),
    "rst": (
        r"``(?:(?!\n\s*\n)[\s\S])+?``(?!`)",
        r"(?::[\w:+.-]+:)?(?<!`)`(?!`)(?:[^`\n]|\n(?!\s*\n))+`(?!`)(?:__?|:[\w:]+:)?|\|[^|\s][^|\n]*\|_?",
        r"\b[\w-]+_{1,2}(?=[\s.,;:)])|\[[#*\w]+\]_|^[ \t]*:[^:\n]+:(?=\s)",
        r"^[ \t]*(?P<line>[=\-~^\"'+*#`.:_<>])(?P=line){2,}[ \t]*$|^[ \t]*=+(?:\s+=+)+\s*$|^[ \t]*\+[-=+]+\+\s*$",
        r"^[ \t]*(?:[-*+•]|#\.|\d+\.|\([a-z\d]\))\s|(?<=\s)\|(?=\s)|\*+|^[ \t]*\|(?=\s)",
    ),
    "asciidoc": (
        # Not below a line of text: that is a title.
        r"(?:(?<![^\n\]+]\n)^|^\.\w[^\n]*\n)"
        r"(?P<only>(?P<line>-{4,}|\.{4,}|\+{4,}|/{4,}|```)[^\n]*\n[\s\S]*?^(?P=line)[ \t]*$)",
        r"^(?://|:[!\w-]+:|\w+::\S*\[|<<<|'''|ifdef::|ifndef::|endif::).*$|^\[.*\][ \t]*$",
        r"^(?:={4,}|\*{4,}|_{4,}|--|\|===|,===|\+)[ \t]*$",
        r"(?<=\n\n)[ \t]+(?![-*.\d\s]).+(?:\n.+)*",  # literal paragraphs
        r"^(?:={1,6}\s|\.(?=[A-Z`])|[ \t]*[*.-]{1,5}\s|[ \t]*\d+\.\s|(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION):)",
        r"(?<!\w)`+[^`\n]+?`+|\+\+?[^+\n]+?\+\+?(?!\w)|<<[^<>]+?>>|\{[\w!:-]+\}",
        r"\b[a-z][\w-]*:{1,2}[^\s\[\]]+\[|\b(?:footnote|kbd|btn|menu|stem|pass):?\[|\b(?:javadoc"
        r"|configprop):[^\[\s]*\[[^\]]*\]",
        r"\||\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|[\[\]#^]|::(?=\s|$)|&[#\w]+;",
    ),
    "org": (
        r"(?i)^[ \t]*#\+begin_(?P<block>src|example|export|comment|verbatim)\b[\s\S]*?^[ \t]*#\+end_(?P=block)",
        r"^[ \t]*(?:#\+|# |:[\w-]+:|\|[-+]+\||: ).*$|:[\w:@]+:[ \t]*$|[<\[]\d{4}-\d\d-\d\d[^>\]]*[>\]]",
        r"\[\[[^\]]*\]\[|\[\[[^\]]*\]\]|\]\]|(?<!\w)[=~](?=\S)[^=~\n]*?\S[=~](?!\w)|(?<!\w)[=~]\S[=~]|\{\{\{.*?\}\}\}",
        r"\[fn:[^\]]*\]|\$[^$\n]+\$|\\\w+|@@.*?@@|<<.+?>>",
        r"^\*+\s(?:TODO |DONE )?|^[ \t]*(?:[-+*]|\d+[.)])\s(?:\[[ X-]\]\s)?|\|| ::(?=\s|$)",
        r"(?<!\w)[*/_+](?=\S)|(?<=\S)[*/_+](?!\w)|^[ \t]*-\s(?:Key|Command|Function|User Option|Variable|Macro):.*$",
    ),
    "latex": (
        r"\A[\s\S]*?\\begin\{document\}|(?<!\\)%.*$",
        rf"\\begin\{{(?P<environment>(?:{_MATH})\*?)\}}[\s\S]*?\\end\{{(?P=environment)\}}",
        r"(?<!\\)\$\$[\s\S]+?(?<!\\)\$\$|\\\[[\s\S]+?\\\]|\\\([\s\S]+?\\\)|(?<![\\$])\$(?!\$)(?:\\[\s\S]|[^$\\])+?\$",
        r"\\(?:label|(?:eq|page|auto|c|C|name)?ref|cite\w*|input|include\w*|use\w+|bibliography\w*|url|href|index"
        r"|[vh]space\*?"
        r"|begin|end|texttt|newcommand|renewcommand|def)\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})?",
        r"\\[A-Za-z@]+\*?(?:\[[^\]\n]*\])*|\\.|[{}&~^_$]|``|''|---?",
    ),
    "typst": (
        r"```[\s\S]*?```|`[^`]*`|(?<!:)//.*$|/\*[\s\S]*?\*/|\$(?:\\[\s\S]|[^$\\])*\$",
        r"^#(?:let|set|show|import|include|if|for|while)\b.*$|#[\w.-]+(?:\([^()]*\))?|\\.|@[\w:.-]*\w"
        r"|<[A-Za-z][\w:.-]*>",
        r"^[ \t]*(?:=+|[-+/]|\d+\.)[ \t]|[\[\]~]|---?|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|\"[^\"\n]*\"(?=\s*[,)])",
    ),
    "text": (
        r"^(?:\d+[ \t]*\n)?\d\d:\d\d:\d\d[,.]\d+ --> .*$",  # subtitles
        r"^(?:From|To|Cc|Date|Message-ID|In-Reply-To|[A-Z][a-z]+(?:-[a-z]+)*-by): .*$|^>+ ?",  # mail and commits
        r"^\[?(?:\d{4}-\d\d-\d\dT?)?\d\d:\d\d(?::\d\d)?\]?\s+(?:<[^>]+>)?",  # chat
        r"(?<= )>\n(?:(?:[ \t].*)?\n)+|\|[^\s|]+\|",  # code and links of Vim help
        r"(?<!\w)--?[A-Za-z][\w-]*(?:=\S+)?|(?<!\w)/[\w.*<>-]+(?:/[\w.*<>-]*)*",  # options and paths
        r"\b\w+\([\w ,]*\)|`[^`\n]+`|\$\{?\w+\}?|\b\w+_\w+\b",
    ),
}
_PATTERNS["mdx"] = (*_PATTERNS["markdown"], r"^[ \t]*:::.*$|\{[^{}\n]*\}")
SAME_AS = {"subtitles": "text", "commit": "text"}
FORMATS = (*_PATTERNS, *SAME_AS)

_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?P<name>[\w:+-]+)::")
_CODE_DIRECTIVES = frozenset(
    "code code-block sourcecode literalinclude highlight math parsed-literal toctree productionlist doctest testcode "
    "testoutput testsetup prompt raw graphviz image figure plot autosummary include ipython currentmodule module "
    "contents only index digraph mermaid program role default-role meta title".split()
)
_PROSE_DIRECTIVES = re.compile(
    r"note|warning|tip|hint|important|danger|error|caution|attention|seealso|todo|topic|admonition|version\w+"
    r"|deprecated"
)


def mask_markup(text: str, name: str) -> bytearray:
    """A byte for each character of a document in the named format: 1 in code, markup, math and addresses.

    Raises KeyError for a format that is not in FORMATS.
    """
    mask = bytearray(len(text))
    name = SAME_AS.get(name, name)
    for start, end in _rst_blocks(text) if name == "rst" else ():
        _cover(mask, start, end)
    for pattern in (*_PATTERNS[name], _ADDRESS):
        for match in re.finditer(pattern, text, re.MULTILINE):
            group: int | str = "only" if match.re.groupindex.get("only") and match["only"] is not None else 0
            _cover(mask, *match.span(group))
    return mask


def _cover(mask: bytearray, start: int, end: int) -> None:
    mask[start:end] = b"\1" * (end - start)


def _rst_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of reStructuredText that indentation ends: directives, comments, literal blocks, doctests."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    i = 0
    while i < len(lines):
        line = lines[i]
        directive = _DIRECTIVE.match(line)
        name = directive["name"] if directive else ""
        if directive and _PROSE_DIRECTIVES.fullmatch(name):
            argument = re.match(r"[ \t]*\S*", line[directive.end() :]) if name.startswith(("version", "dep")) else None
            yield starts[i], starts[i] + directive.end() + (argument.end() if argument else 0)
            i += 1
        elif directive and name not in _CODE_DIRECTIVES:  # its body may be prose: a method and what it does
            yield starts[i], starts[i + 1]
            i += 1
        elif re.match(r"[ \t]*\.\.(?:\s|$)(?!\[)", line):
            end = _end_of_body(lines, i)
            yield starts[i], starts[end]
            i = end
        elif re.match(r"[ \t]*>>>", line):
            end = next((k for k in range(i, len(lines)) if not lines[k].strip()), len(lines))
            yield starts[i], starts[end]
            i = end
        elif line.rstrip().endswith("::"):
            end = _end_of_body(lines, i)
            yield starts[i] + len(line.rstrip()) - 2, starts[i] + len(line.rstrip())
            yield starts[i + 1], starts[end]
            i = end
        else:
            i += 1


def _end_of_body(lines: list[str], i: int) -> int:
    """The line after the block that is indented deeper than line i."""
    base = _indentation(lines[i])
    end = i + 1
    while end < len(lines) and (not lines[end].strip() or _indentation(lines[end]) > base):
        end += 1
    while end > i + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _indentation(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())
