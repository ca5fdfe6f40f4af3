"""Tables of LaTeX's commands and environments, by what they do with their arguments.

latex.py judges a command that is in no table by its arguments.
"""

from __future__ import annotations

import re

# --- environments ------------------------------------------------------------------------------------------------

VERBATIM = re.compile(
    r"(?:[bB]?[vV]erbatim|verbatimtab|alltt|lstlisting|minted|comment|filecontents|[LSBv]Verbatim|luacode|pycode|python"
    r"|sage\w*|asy|Sinput|Soutput|Scode|Schunk|lilypond|tcblisting|listing|pygmented|codeblock|code|VerbatimOut)\*?"
)  # TeX reads nothing in them, not even braces and comments
MATH = re.compile(
    r"(?:displaymath|math|equation|align|alignat|xalignat|xxalignat|flalign|gather|multline|eqnarray|dmath|dgroup"
    r"|IEEEeqnarray|empheq|subequations|prooftree)\*?"
)
CODE = re.compile(
    r"\w*(?:tabular|tabbing|tabu|tblr|longtable|NiceTab|array|matrix|cases|tikz|pict|circuit|axis|plot|chart|diagram"
    r"|graph|forest|tree|algorithmic|pseudo|algo\b|bibliography|biblist|verb|listing|code|(?<!de)script|output"
    r"|console|terminal"
    r"|CD\b|feynman|music|chess|asy|data|macro|syntax|grammar|hide|skip|comment|XML)\w*\*?"
)
PROSE = re.compile(
    r"\w*(?:document|abstract|item|enum|desc|list|quot|verse|center|flush|ragged|figure|table|float|page|col|frame"
    r"|block"
    r"|box|theorem|thm|lem|prop|def|exa|ex\b|exer|prob|sol|proof|rem|cor|claim|fact|conj|axiom|note|warn|hint|tip|info"
    r"|question|answer|part|appendix|acknow|summary|letter|spac|small|large|landscape|adjust|wide|sub|multi|intro|expl)"
    r"\w*\*?"
)
TITLED = re.compile(r"frame|\w*block")  # \begin{frame}{Its title}

# --- commands ----------------------------------------------------------------------------------------------------

HEADING = re.compile(r"\w*(?:section|chapter|caption|paragraph|[tT]itle|heading)|part|captionof")
NOTES = frozenset("footnote footnotetext thanks marginpar marginnote sidenote tablefootnote endnote".split())
TEXT = dict.fromkeys(
    "emph textbf textit textsl textsc textup textmd textrm textsf textnormal text textlf textulc underline uline uwave "
    "ul hl so mbox hbox fbox framebox makebox enquote quote MakeUppercase MakeLowercase uppercase lowercase "
    "textsuperscript textsubscript foreignquote textquote only onslide uncover visible alert structure strong "
    "intertext shortintertext centerline leftline rightline hyperref textins added replaced".split(),
    0,
) | dict.fromkeys("textcolor colorbox href parbox raisebox rotatebox scalebox foreignlanguage".split(), 1)
# The number of arguments in braces before the one that is text.
CODE_LIKE = frozenset(
    "texttt code path url nolinkurl lstinline mintinline verb file filename command cmd cs pkg env opt key keys var "
    "varname option class package program textverb tt ttfamily ce SI si num qty unit ang".split()
)
CITE = re.compile(r"no[cC]ite|\w*[cC]ite\w*")
TEXTUAL_CITE = re.compile(
    r"(?:[cC]ite(?:t|alt|author|fullauthor)|[tT]extcite|[nN]ewcite|shortciteN)s?|citeasnoun|citeA"
)
REF = re.compile(r"\w*[rR]efs?|[cCvV]refrange|refrange")
NAMED_REF = re.compile(r"[cCv]?[cC]ref|[aA]utoref|[vV]ref|[zZ]cref")  # these print "Figure 1"
SILENT = frozenset(
    "label ollabel index sindex glossary input include includeonly includegraphics includesvg includepdf subfile "
    "import usepackage RequirePackage documentclass LoadClass bibliography bibliographystyle addbibresource "
    "printbibliography printindex vspace hspace addvspace vskip hskip kern mkern raise lower newcommand renewcommand "
    "providecommand "
    "newrobustcmd DeclareRobustCommand newenvironment renewenvironment NewDocumentCommand RenewDocumentCommand "
    "DeclareMathOperator DeclarePairedDelimiter newtheorem theoremstyle newcounter newlength newif newsavebox savebox "
    "usebox setlength addtolength setcounter addtocounter stepcounter refstepcounter settowidth definecolor colorlet "
    "color pagecolor pagestyle thispagestyle pagenumbering graphicspath hypersetup geometry lstset lstdefinestyle "
    "lstdefinelanguage lstinputlisting inputminted usemintedstyle setminted tikzset usetikzlibrary pgfplotsset tikz "
    "captionsetup sisetup selectlanguage fontsize fontfamily fontseries fontshape rule linespread enlargethispage "
    "addcontentsline addtocontents markboth markright phantom vphantom hphantom hypertarget phantomsection "
    "bibitem newacronym newglossaryentry acrodef DeclareAcronym makeglossaries theoremref institute affiliation email "
    "author date address keywords orcid acmConference acmDOI ccsdesc titleformat titlespacing tableofcontents today "
    "multirow multicolumn cline cmidrule hline toprule midrule bottomrule foreach pgfmathsetmacro node draw fill def "
    "edef gdef xdef let futurelet catcode advance special write openin openout message typeout errmessage expandafter "
    "csname noexpand relax ensuremath mathchardef newread newwrite PassOptionsToPackage AtBeginDocument AtEndDocument "
    "ifthenelse setbeamertemplate setbeamercolor setbeamerfont usetheme usecolortheme usefonttheme useoutertheme "
    "todo listoftodos missingfigure fxnote indexsee indexdef setlist crefname Crefname hyphenation "
    "sout st xout deleted".split()  # the last four: struck-out text
)
SWITCHES = frozenset(
    "noindent indent centering raggedright raggedleft tiny scriptsize footnotesize small normalsize large Large LARGE "
    "huge Huge bf it em sl sc rm sf bfseries itshape slshape scshape upshape rmfamily sffamily mdseries normalfont "
    "clearpage cleardoublepage newpage pagebreak nopagebreak linebreak nolinebreak bigskip medskip smallskip vfill "
    "hfill hfil vfil hrule appendix frontmatter mainmatter backmatter maketitle sloppy fussy protect leavevmode "
    "bgroup egroup begingroup endgroup strut null allowbreak break nobreak filbreak goodbreak ignorespaces unskip "
    "onecolumn twocolumn doublespacing singlespacing onehalfspacing newblock xspace pause columnbreak qed qedhere "
    "boldmath unboldmath flushbottom raggedbottom balance FloatBarrier footnotemark frenchspacing nonfrenchspacing "
    "fi else or unprotect".split()
)
SKIPPED = {"iffalse": r"\fi", "makeatletter": r"\makeatother", "ExplSyntaxOn": r"\ExplSyntaxOff"}
SYMBOLS = {
    "ldots": "…", "dots": "…", "dotsc": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "S": "§",
    "P": "¶", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’", "lq": "‘",
    "rq": "’", "copyright": "©", "pounds": "£", "euro": "€", "textdegree": "°", "degree": "°", "dag": "†", "ddag": "‡",
    "textregistered": "®", "texttrademark": "™", "textquotesingle": "'", "textbar": "|", "slash": "/", "eg": "e.g",
    "ie": "i.e",
}  # fmt: skip
SPACES = frozenset("quad qquad enspace thinspace space nobreakspace enskip textvisiblespace".split())
LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "i": "i", "j": "j", "dh": "ð", "th": "þ",
}  # fmt: skip
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331",
}  # fmt: skip
