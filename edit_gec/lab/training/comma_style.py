"""Whether a sentence sets commas where careful editors set them, as far as a few sure rules can tell.

    >>> lacks_comma("However we stayed."), lacks_comma("However, we stayed.")
    (True, False)
    >>> lacks_comma("When she came we ate."), lacks_comma("When she came, we ate.")
    (True, False)

Every sentence of the training text that leaves out the comma after an introduction teaches a model to leave it out. A
rule may drop a sentence that was right: there are others. It must not miss a whole kind, or it bends the style.
"""

from __future__ import annotations

import re

_SUBJECT = (
    r"(?:I|you|he|she|it|we|they|there|this|that|these|those|the|a|an|my|your|his|her|its|our|their|what|if|when)"
)
_PRONOUN = r"(?:I|you|he|she|it|we|they)"
_CONNECTIVE = re.compile(
    r"^[\"“‘(]?(?:"
    r"(?:however|therefore|moreover|furthermore|nevertheless|nonetheless|consequently|additionally|similarly|likewise|"
    r"meanwhile|accordingly|unfortunately|fortunately|surprisingly|interestingly|finally|firstly|secondly|thirdly"
    r"|lastly|"
    r"for example|for instance|in addition|in fact|in general|in conclusion|in other words|in contrast|in particular|"
    r"in short|in summary|in my opinion|in the end|as a result|as a consequence|by the way|of course|"
    r"first of all|on the other hand|on the one hand|on the contrary|to sum up|generally speaking|that said|"
    rf"at the same time|above all) {_SUBJECT}"
    rf"|(?:besides|instead|after all|at first|at last|as usual|actually) {_PRONOUN})\b(?! [a-z]+ing\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"^[\"“‘(]?(?:(?:when|if|because|although|though|whenever|unless|while|as soon as) "
    rf"(?:{_PRONOUN}|there|this|that|the|a|an|my|your|his|her|its|our|their|people|someone)"
    rf"|(?:after|before|since|until|as) {_PRONOUN})\b",
    re.IGNORECASE,
)
_MAIN = re.compile(  # a subject that nothing before it can govern, or one whose verb follows
    r"\b(?!(?:that|than|if|when|what|where|why|how|who|whom|which|whether|because|as|and|or|but|before|after|until"
    r"|since|"
    r"while|though|although|unless|so|think|thinks|thought|know|knows|knew|say|says|said|hope|believe|believed|feel"
    r"|felt|"
    r"told|sure|wish|everything|all|things?|way|time|thing|like|means?|of|in|for|to|on|at|by|with|from) )[\w'’]+ "
    r"(?:(?:I|he|she|we|they)(?:['’](?:m|ve|ll|d|re|s))?"
    r"|(?:you|it|the \w+|your \w+|my \w+|his \w+|her \w+) (?:can|could|should|will|would|must|may|might|is|are|was|"
    r"were|has|have|had|do|does|did|won['’]t|can['’]t|don['’]t|doesn['’]t|didn['’]t|cannot)"
    r"|(?:you|it|that)['’](?:ll|re|d|ve|s)) [a-z]"
)
_MARK = re.compile(r"[,;:–—?]")  # with any of these, where the main clause begins is not sure


def lacks_comma(sentence: str) -> bool:
    """Whether an introductory connective or clause is followed by its main clause without a comma."""
    if _CONNECTIVE.match(sentence):
        return True
    opening = _CLAUSE.match(sentence)
    return bool(opening and not _MARK.search(sentence) and _MAIN.search(sentence, opening.end()))
