"""Memory and time do not depend on what the words of a text are. `python tests/attack/words.py`

The real network corrects texts of one length whose words it must look up, spell or write, each in a process of its own,
on one thread. Prints the edits, the processor time and how many times that of prose it is, the peak of the resident
memory and how far it is above that of prose. Status 1 where a text takes more than MOST_TIMES as long as prose, or is
more than MOST_MB above its memory. `--suggest` also finds alternatives and hints, as the server does.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

PROSE = (Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt").read_text(encoding="utf-8")
MOST_TIMES, MOST_MB = 6.0, 200.0
SPECIES = "Quercus robur, Fagus sylvatica, Carpinus betulus, Acer pseudoplatanus, Tilia cordata, Ulmus glabra, "
NAMES = "Mr Okonkwo met Ms Szczepanska and Dr Nguyen-Tran near Llanfairpwll, then Zbigniew rang Siobhan O'Reilly. "
CHAT = "lol i dunno wat u mean tbh but ok ill chek it "
CODE = "the getUserById fn retuns a usr obj wich has an id and a nme, then we cal setStat on teh ctx and retrun it. "
GERMAN = "Der Hund läuft über die Straße und die Katze schläft auf dem Sofa. "
RULES = "I think recieve seperate occured definately wich teh beleive adress should of been there in the house. "


def misspell(share: float, *, stops: bool = True) -> str:
    """Prose in which this share of the longer words has two letters in the wrong order."""
    chance = random.Random(1)
    words = PROSE.split()
    for n, word in enumerate(words):
        if len(word) > 3 and chance.random() < share:
            at = chance.randrange(1, len(word) - 2)
            words[n] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    text = " ".join(words) + " "
    return text if stops else text.translate({ord(mark): None for mark in ".!?"})


TEXTS = {
    "prose": PROSE,
    "unknown words": "teh cat, ",
    "an unknown word": "teh ",
    "names": NAMES,
    "species": SPECIES,
    "chat without stops": CHAT,
    "like code": CODE,
    "German": GERMAN,
    "rules among misspelt words": RULES,
    "one word in five misspelt": misspell(0.2),
    "one in five, no stops": misspell(0.2, stops=False),
    "every second, no stops": misspell(0.5, stops=False),
    "no verbs agree": "She go and they goes and he have and we has, ",
    "missing words": "he go shop buy milk come home eat cake, ",
}


class Cost(dict[str, float]):
    """Edits, seconds of processor time, and peak of the resident memory in MB."""


def measure(text: str, *, suggest: bool = False) -> Cost:
    """Correct a text in this process."""
    from edit_gec import Corrector

    corrector = Corrector.load(threads=1)
    corrector.correct("She go home.")
    begun = time.process_time()
    correction = corrector.correct(text)
    if suggest:
        corrector.suggest(correction)
    spent = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(edits=len(correction.edits), seconds=spent, peak=peak)


def measure_alone(name: str, length: int, *, suggest: bool = False) -> Cost:
    """`measure` the text of a name in a process of its own."""
    more = ["--suggest"] if suggest else []
    command = [sys.executable, __file__, "--alone", name, "--length", str(length), *more]
    return Cost(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=5000)
    parser.add_argument("--text", action="append", choices=TEXTS, help="default: all")
    parser.add_argument("--suggest", action="store_true")
    parser.add_argument("--alone", choices=TEXTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    length: int = arguments.length
    if arguments.alone:
        unit = TEXTS[arguments.alone]
        print(json.dumps(measure((unit * (length // len(unit) + 1))[:length], suggest=arguments.suggest)))
        return 0
    prose = measure_alone("prose", length, suggest=arguments.suggest)
    failed = 0
    for name in arguments.text or TEXTS:
        cost = measure_alone(name, length, suggest=arguments.suggest)
        times, more = cost["seconds"] / prose["seconds"], cost["peak"] - prose["peak"]
        bad = times > MOST_TIMES or more > MOST_MB
        failed += bad
        print(
            f"{'FAIL' if bad else 'ok':4} {name:26} {cost['edits']:5.0f} edits  {cost['seconds']:7.2f} s {times:5.1f} x"
            f"  {cost['peak']:6.0f} MB {more:+6.0f}",
            flush=True,
        )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
