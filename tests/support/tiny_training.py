"""What a training run of seconds needs: a data folder with a little of everything, and the shape of a tiny EdiT5."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

from conftest import PROSE

MODEL = """
[model]
d_model = 32
d_kv = 8
d_ff = 48
num_heads = 2
slots = 64
point_width = 8
"""


def write_data(folder: Path) -> Path:
    """Write a data folder: prose, real edits, lists of misspellings."""
    for name in ("prose", "edits", "spelling"):
        (folder / name).mkdir(parents=True)
    shutil.copyfile(PROSE, folder / "prose" / "tatoeba_en.txt")
    (folder / "edits" / "some.tsv").write_text("x\tShe walk to the station.\tShe walks to the station.\n")
    for name, content in {
        "misspell_main.json.xz": json.dumps({"receive": ["recieve"]}),
        "typos_words.csv.xz": "teh,the\n",
        "varcon.txt.xz": "# colour\nA: color / B: colour\n",
    }.items():
        with lzma.open(folder / "spelling" / name, "wt") as file:
            file.write(content)
    (folder / "spelling" / "wikipedia_list.txt").write_text("becuase->because\n")
    return folder
