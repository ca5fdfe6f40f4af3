"""The page in a real browser, with the model that ships: by keyboard alone, for everybody, and asking nobody else."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
from playwright import sync_api as playwright
from support.live_server import LIMITS, serving

from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.corrector import Corrector
from edit_gec.server.app import PAGE_FOLDER

CHROMIUM = "/usr/bin/chromium"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="Debian's chromium is not installed"),
]
ROBUSTNESS = Path(__file__).parents[1] / "robustness"
SHORT = "She go to school becuase its monday, and i dont know why."
PATIENCE = 60_000  # ms; a busy machine is no failure
Page = Any


def sentences(name: str) -> list[str]:
    return [json.loads(line)["text"] for line in (ROBUSTNESS / f"{name}.jsonl").read_text().splitlines()]


def long_text(words: int) -> str:
    """Paragraphs of right sentences in ever other company, a wrong one in every fourth of them."""
    right, wrong = sentences("leave_alone"), sentences("obvious")
    paragraphs: list[str] = []
    while sum(len(paragraph.split()) for paragraph in paragraphs) < words:
        n = len(paragraphs)
        chosen = [right[(7 * n + 31 * k) % len(right)] for k in range(5)]
        paragraphs.append(" ".join([wrong[n % len(wrong)], *chosen] if n % 4 == 3 else chosen))
    return "\n\n".join(paragraphs)


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load(threads=1, batch_size=16)


@pytest.fixture(scope="module")
def server(corrector: Corrector) -> Iterator[str]:
    with serving(corrector, LIMITS.__class__(per_client=16)) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, server: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, accept_downloads=True)
    yield from open_page(context, server)
    context.close()


def open_page(context: Any, server: str) -> Iterator[Page]:
    """The page; in the end nothing may have gone wrong in it, and nobody else been asked."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def note(line: playwright.ConsoleMessage) -> None:
        if line.type == "error" and "Failed to load" not in line.text:
            wrong.append(line.text)

    page.on("console", note)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server)
    settle(page)  # the script is running and knows what the engine offers
    yield page
    assert not wrong
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)


def write(page: Page, text: str) -> None:
    """Put a text in the empty page and wait until all of it is checked."""
    page.focus("#text")
    page.keyboard.insert_text(text)
    page.wait_for_selector("#words:not(:text-is('0 words, 0 characters'))")
    settle(page)


def settle(page: Page) -> None:
    page.wait_for_selector("#findings[aria-busy=false]")


def bodies(page: Page) -> list[dict[str, Any]]:
    """The corrections that are asked for from now on; the page may still be asking what the server can do."""
    asked: list[dict[str, Any]] = []

    def note(request: playwright.Request) -> None:
        if "/v1/correct" in request.url:
            asked.append(json.loads(request.post_data or ""))

    page.on("request", note)
    return asked


def count(page: Page) -> str:
    return str(page.inner_text("#count"))


# --- at the word (D7, D10) ---------------------------------------------------------------------------------------


def test_one_card_for_one_error(page: Page) -> None:
    write(page, SHORT)
    cards = page.locator("#edits li").all_inner_texts()
    for old, new, name, why in (
        ("becuase", "because", "spelling", "spelt “because”"),
        ("its", "it's", "words that are mixed up", "“it’s” means “it is”"),
        ("monday", "Monday", "capital letter", "begin with a capital"),
    ):
        (card,) = [card for card in cards if f"{old} {new}" in card]
        assert name in card and why in card
    kinds = page.eval_on_selector_all("#marks mark", "marks => marks.map(m => m.textContent + ' ' + m.className)")
    assert {"becuase spelling", "its grammar", "monday punctuation"} <= set(kinds)


INJECTED = (
    '<img src=x onerror="window.pwned = 1">',
    "<script>window.pwned = 1</script>",
    "<svg onload='window.pwned = 1'>",
    "<iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>",
    "<a href='javascript:window.pwned = 1'>teh</a>",
    "</textarea><img src=x onerror='window.pwned = 1'>",
    "<details open ontoggle=window.pwned=1>",
    "<style>body { display: none }</style>",
    "{{constructor.constructor('window.pwned = 1')()}}",
    "${window.pwned = 1}",
)


@pytest.mark.parametrize("suffix", ["txt", "md"])
def test_markup_of_a_text_stays_text(page: Page, tmp_path: Path, suffix: str) -> None:
    """What a text injects is shown: in marks, cards, the popover, and with all changes in their place."""
    file = tmp_path / f"<img src=x onerror=window.pwned=1>.{suffix}"
    lines = [f"She go {each} home becuase “{each}” its {each} monday." for each in INJECTED]
    file.write_text("\n\n".join(lines), encoding="utf-8")
    page.set_input_files("#file", file)
    page.wait_for_selector("#words:not(:text-is('0 words, 0 characters'))")
    settle(page)
    assert page.locator("#edits li").count() > len(INJECTED)
    for _ in INJECTED:
        page.focus("#text")
        page.keyboard.press("F8")
        page.wait_for_selector("#popover:not([hidden])")
    page.click("#compare")
    page.wait_for_selector("#changes:not([hidden])")
    assert INJECTED[0] in page.inner_text("#changes")
    foreign = ", ".join("img script iframe svg a style details".split())
    places = ", ".join("#marks #popover #changes #edits #status #problem #filters #known #ignored".split())
    for _ in range(2):
        assert page.evaluate(f"document.querySelectorAll(':is({places}) :is({foreign})').length") == 0
        assert page.evaluate("typeof window.pwned") == "undefined"
        page.reload()
        settle(page)


CHOICE = "They did not know wich one it was."


def test_a_popover_at_the_word(page: Page) -> None:
    write(page, CHOICE)
    word = page.locator("#marks mark", has_text="wich").bounding_box()
    page.mouse.click(word["x"] + word["width"] / 2, word["y"] + word["height"] / 2)
    page.wait_for_selector("#popover")
    popover = page.locator("#popover").bounding_box()
    assert 0 <= popover["y"] - word["y"] - word["height"] < 20 and abs(popover["x"] - word["x"]) < 20
    labels = page.locator("#popover button").all_inner_texts()
    assert labels[0] == "which" and labels[-3:] == ["Dismiss", "Always ignore", "Add to dictionary"]
    assert len(set(labels[1:-3]) - {"which", "wich"}) == len(labels) - 4 > 0  # alternatives
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "which"
    page.keyboard.press("Enter")
    assert page.input_value("#text") == CHOICE.replace("wich", "which")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+z")
    assert page.input_value("#text") == CHOICE


def test_a_popover_stays_on_the_screen(page: Page) -> None:
    write(page, "\n".join([*["All is well."] * 18, SHORT, *["All is well."] * 18]))
    page.evaluate("scrollTo(0, 0)")
    word = page.locator("#marks mark", has_text="becuase").bounding_box()
    page.set_viewport_size({"width": 1200, "height": int(word["y"]) + 60})
    page.mouse.click(word["x"] + word["width"] / 2, word["y"] + word["height"] / 2)
    popover = page.locator("#popover").bounding_box()
    assert popover["y"] > 0 and popover["y"] + popover["height"] <= word["y"]


def test_an_alternative_is_accepted(page: Page) -> None:
    write(page, CHOICE)
    page.locator("#edits li", has_text="wich which").locator("button.change").click()
    other = page.locator("#popover .choose:not(.refuse) button:not(.main)").first
    label = other.inner_text()
    other.click()
    assert page.input_value("#text") == CHOICE.replace("wich", label) and label not in ("which", "wich")


HINTED = "My mother very happy about her new job. We was there yesterday."


def test_a_hint_is_offered_and_never_made_with_the_others(page: Page) -> None:
    write(page, HINTED)
    assert page.locator("#marks mark.hint").count() == page.locator("#edits li.hint").count() == 1
    assert "missing verb" in page.inner_text("#edits li.hint") and "unsure" in page.inner_text("#edits li.hint")
    page.click("#compare")
    assert page.inner_text("#changes").startswith("My mother very happy")
    page.click("#all")
    page.wait_for_selector("#all:disabled")
    assert page.input_value("#text") == HINTED.replace("was", "were")
    page.keyboard.press("F8")
    labels = page.locator("#popover .choose:not(.refuse) button").all_inner_texts()
    verb = labels[0].removeprefix("Insert “").removesuffix("”")
    assert verb in ("is", "was") and len(labels) > 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.input_value("#text").startswith(f"My mother {verb} very happy")
    page.keyboard.press("Control+z")
    settle(page)
    page.click("#filters button:has-text('Unsure')")
    assert page.locator("#edits li").count() == 0 and count(page) == "No suggestions"


def test_escape_comes_back_to_the_text(page: Page) -> None:
    write(page, SHORT)
    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "text" and not page.is_visible("#popover")


def test_next_and_previous_scroll_the_view_and_the_list(page: Page) -> None:
    write(page, "\n\n".join([*sentences("leave_alone")[:60], SHORT, *sentences("leave_alone")[60:90], SHORT]))
    page.keyboard.press("Control+Home")
    page.evaluate("scrollTo(0, 0)")
    seen = set()
    for step in range(page.locator("#edits li").count()):
        page.keyboard.press("F8")
        mark, card = (
            page.locator("#marks mark.here").first.bounding_box(),
            page.locator("#edits li.here").bounding_box(),
        )
        assert mark["y"] >= 0 and mark["y"] + mark["height"] <= 800, step
        assert card["y"] >= -5 and card["y"] + card["height"] <= 805, step
        seen.add(page.evaluate("document.getElementById('text').selectionStart"))
    assert len(seen) == page.locator("#edits li").count() > 8
    last = page.evaluate("scrollY")
    assert last > 1000
    page.keyboard.press("F8")  # from the last to the first
    assert page.evaluate("scrollY") < last
    page.keyboard.press("Shift+F8")
    assert abs(page.evaluate("scrollY") - last) < 50


def test_from_the_card_to_the_word_and_back(page: Page) -> None:
    write(page, "\n\n".join([*sentences("leave_alone")[:60], SHORT]))
    page.evaluate("scrollTo(0, 0)")
    card = page.locator("#edits li", has_text="becuase because")
    card.locator("button.change").click()
    box = page.locator("#marks mark.here").bounding_box()
    assert 0 < box["y"] < 800 and page.locator("#marks mark.here").inner_text() == "becuase"
    assert page.evaluate("document.activeElement.id") == "text"
    assert page.locator("#edits li.here").inner_text() == card.inner_text()


def test_accepting_one_leaves_the_others(page: Page) -> None:
    """D5: the engine may find a corrected sentence good enough; what was shown stays."""
    write(page, SHORT)
    before = {text.split("\n")[0] for text in page.locator("#edits li .change ins").all_inner_texts()}
    page.keyboard.press("Control+Home")
    while page.locator("#edits li").count():
        left = page.locator("#edits li").count()
        page.keyboard.press("F8")
        page.keyboard.press("Alt+Enter")
        settle(page)
        assert page.locator("#edits li").count() >= left - 1
        before -= {""}
        if page.input_value("#text").count("because"):
            break
    assert "because" in page.input_value("#text")


def test_words_and_corrections_can_be_ignored_for_good(page: Page, server: str) -> None:
    write(page, "I like becuase. We like teh dog, and becuase we like it.")
    found = page.locator("#edits li", has_text="because").count()
    assert found
    page.locator("#edits li", has_text="because").first.locator("button.change").click()
    page.click("#popover >> text=Add to dictionary")
    assert page.locator("#edits li", has_text="becuase because").count() == 0
    page.locator("#edits li", has_text="teh the").locator("button.change").click()
    page.click("#popover >> text=Always ignore")
    assert page.locator("#edits li", has_text="teh the").count() == 0
    page.reload()
    settle(page)
    assert page.locator("#edits li", has_text="teh the").count() == 0
    page.click("#settings summary")
    assert page.inner_text("#known").startswith("becuase") and page.inner_text("#ignored").startswith("teh → the")
    page.click("#ignored button")
    assert page.locator("#edits li", has_text="teh the").count() == 1


@contextlib.contextmanager
def opened(browser: Any, corrector: Corrector, **how: Any) -> Iterator[Page]:
    """The page of a server of its own."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    with serving(corrector, how.pop("limits", LIMITS), **how) as address:
        yield from open_page(context, address)
    context.close()


def test_words_go_to_the_dictionary_of_all_fronts(browser: Any, corrector: Corrector, tmp_path: Path) -> None:
    own = WatchedLineFile(tmp_path / "dictionary.txt")
    own.add("Kubectl")
    with opened(browser, corrector, projects=Projects(own=own)) as page:
        write(page, "We left becuase it rained. We like kubectl, and they was late.")
        page.locator("#edits li", has_text="becuase because").locator("button.change").click()
        page.click("#popover >> text=Add to dictionary")
        page.wait_for_selector("#edits li:has-text('becuase because')", state="detached")
        page.click("#settings summary")
        page.wait_for_selector("#known li:has-text('becuase')")
        assert own.read() == ("Kubectl", "becuase") and "your dictionary on this machine" in page.inner_text("#kept")
        page.reload()
        settle(page)
        assert page.locator("#edits li", has_text="becuase because").count() == 0
        page.click("#settings summary")
        page.click("#forget")  # of the browser, not of the dictionary
        page.wait_for_selector("#example", state="visible")
        assert own.read() == ("Kubectl", "becuase")
        write(page, "We left becuase it rained.")
        page.click("#known li:has-text('becuase') button")
        page.wait_for_selector("#edits li:has-text('becuase because')")
        assert own.read() == ("Kubectl",)


def test_a_dictionary_that_cannot_be_written_is_told(browser: Any, corrector: Corrector, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    own = WatchedLineFile(tmp_path / "file" / "dictionary.txt")
    with opened(browser, corrector, projects=Projects(own=own)) as page:
        write(page, "We left becuase it rained.")
        page.locator("#edits li", has_text="becuase because").locator("button.change").click()
        page.click("#popover >> text=Add to dictionary")
        page.wait_for_selector("#problem:has-text('cannot write')")
        assert page.locator("#edits li", has_text="becuase because").count() == 1


# --- while it works (D8, D13) ------------------------------------------------------------------------------------


def test_the_text_survives_a_reload_until_it_is_forgotten(page: Page) -> None:
    write(page, SHORT)
    found = page.locator("#edits li").count()
    page.locator("#edits li button:has-text('Dismiss')").first.click()
    page.reload()
    settle(page)
    assert page.input_value("#text") == SHORT and page.locator("#edits li").count() == found - 1 > 0
    page.click("#settings summary")
    page.click("#forget")
    page.reload()
    assert page.input_value("#text") == "" and page.is_visible("#example")
    assert page.evaluate("[localStorage.length, sessionStorage.getItem('edit-gec.text')]") == [0, '""']


def test_while_it_asks_it_says_so(page: Page) -> None:
    """D13: never "no suggestions" before there is an answer."""
    said: list[str] = []

    def note(route: playwright.Route) -> None:
        said.append(count(page))
        route.continue_()

    page.route("**/v1/**", note)
    write(page, "All is well.")
    assert said == ["Checking…"] and count(page) == "No suggestions"
    assert page.inner_text("#status") == "No suggestions"


def test_another_language_is_named(page: Page) -> None:
    write(page, "Je ne sais pas pour vous, mais le chat est dans la maison.")
    assert count(page) == "Some of this looks like French; only English is checked"


def test_first_marks_come_long_before_the_last(page: Page) -> None:
    """D13: 5,000 words, of which the first are asked for alone; the text can be edited meanwhile."""
    text = SHORT + "\n\n" + long_text(5000)
    asked = bodies(page)
    page.focus("#text")
    page.evaluate("text => document.execCommand('insertText', false, text)", text)
    page.keyboard.press("Control+Home")
    page.wait_for_selector("#marks mark")
    assert page.get_attribute("#findings", "aria-busy") == "true" and count(page).startswith("Checking…")
    assert sum(len(body["text"]) for body in asked) < len(text) / 2
    assert len(asked[0]["text"]) <= 1500
    page.keyboard.type("Well, ")
    assert page.input_value("#text") == "Well, " + text
    settle(page)
    assert len(page.locator("#marks mark").all()) > 30
    del asked[:]
    page.keyboard.press("Control+End")
    page.keyboard.type(" That is definitly so.")
    page.wait_for_selector("#edits li:has-text('definitly definitely')")
    assert {len(body["text"].split("\n\n")) for body in asked} == {1}  # the last paragraph, nothing else
    assert all(text.split("\n\n")[-1][:40] in body["text"] for body in asked)


def test_texts_beyond_the_limit_of_a_request(page: Page) -> None:
    """D13: more than 100,000 characters left old marks and a message far away."""
    plain = "word " * 1000
    asked = bodies(page)
    write(page, "\n\n".join([SHORT, *[f"{n}. {plain}" for n in range(21)], SHORT]))
    assert page.locator("#edits li").count() >= 8 and "suggestions" in count(page)
    assert max(len(body["text"]) for body in asked) < 10_000


LINE = "The meadow was quiet in the morning, and nobody came down the road before noon except the postman and a dog."


def test_of_lines_that_are_paragraphs_one_is_asked_again(page: Page) -> None:
    """Texts of word processors have no empty lines between their paragraphs."""
    asked = bodies(page)
    write(page, "\n".join(["Dear all,", *[f"{LINE} {n}. They was late again on day number {n}." for n in range(40)]]))
    assert page.locator("#edits li:has-text('was were')").count() > 30
    del asked[:]
    page.keyboard.press("Control+End")
    page.keyboard.type(" That is definitly so.")
    page.wait_for_selector("#edits li:has-text('definitly definitely')")
    assert asked and all(body["text"].startswith(f"{LINE} 39.") for body in asked)


def test_a_paragraph_longer_than_the_server_takes(browser: Any, corrector: Corrector) -> None:
    with opened(browser, corrector, limits=replace(LIMITS, characters=300)) as page:
        asked = bodies(page)
        write(page, " ".join(f"{LINE} It was definitly day {n}." for n in range(12)) + "\n\n```\n" + "x y " * 100)
        assert page.locator("#edits li:has-text('definitly definitely')").count() == 12
        assert count(page) == "12 suggestions"
        assert len(asked) > 4 and max(len(body["text"]) for body in asked) <= 300


def test_a_server_that_dies_and_comes_back(page: Page) -> None:
    page.route("**/v1/**", lambda route: route.abort())
    page.focus("#text")
    page.keyboard.insert_text(SHORT)
    page.wait_for_selector("#count:has-text('does not answer')")
    page.unroute("**/v1/**")
    page.wait_for_selector("#edits li")
    settle(page)


def test_an_answer_that_breaks_off_is_asked_for_again(page: Page) -> None:
    """What did come counts; what is missing is not taken for right."""
    asked = bodies(page)

    def cut(route: playwright.Route) -> None:
        whole = route.fetch()
        if len(asked) > 1:
            route.fulfill(response=whole)
        else:
            route.fulfill(response=whole, body=whole.text().split("\n")[0] + "\n")

    page.route("**/v1/correct/stream", cut)
    page.focus("#text")
    page.keyboard.insert_text(f"{SHORT} All is well.\n\n{SHORT}")
    page.wait_for_selector("#count:has-text('broke off')")
    assert page.locator("#edits li", has_text="becuase because").count() == 1
    settle_all(page)
    assert page.locator("#edits li", has_text="becuase because").count() == 2
    assert [body["text"] == asked[0]["text"] for body in asked] == [True, True, False]


def settle_all(page: Page) -> None:
    """Wait for the end of what is tried again."""
    page.wait_for_selector("#count:has-text('suggestions')")
    settle(page)


def test_a_very_long_text_by_keyboard_alone(page: Page) -> None:
    """5,000 words from beginning to end: every suggestion accepted or dismissed, no mouse."""
    write(page, long_text(5000))
    words = int(page.inner_text("#words").split()[0].replace(",", ""))
    assert words >= 5000
    page.keyboard.press("Control+Home")
    shown = page.locator("#edits li").count()
    assert shown > 20
    for step in range(4 * shown):
        page.keyboard.press("F8")
        box = page.locator("#marks mark.here").first.bounding_box()
        assert 0 <= box["y"] <= 800 and page.is_visible("#popover")
        page.keyboard.press("Alt+Backspace" if step % 5 == 4 else "Alt+Enter")
        if not page.locator("#edits li").count():
            settle(page)
        if not page.locator("#edits li").count():
            break
    assert count(page) == "No suggestions"


# --- filters, settings, files ------------------------------------------------------------------------------------


def test_filters_by_kind(page: Page) -> None:
    write(page, SHORT)
    everything = page.locator("#edits li").count()
    page.click("#filters button:has-text('Spelling')")
    assert page.get_attribute("#filters button:has-text('Spelling')", "aria-pressed") == "false"
    assert page.locator("#edits li.spelling, #marks mark.spelling").count() == 0
    assert 0 < page.locator("#edits li").count() < everything
    page.reload()
    settle(page)
    assert page.locator("#edits li").count() < everything
    page.click("#filters button:has-text('Spelling')")
    assert page.locator("#edits li").count() == everything


def test_strictness_in_writers_words(page: Page) -> None:
    write(page, SHORT)
    usual = page.locator("#edits li").count()
    asked = bodies(page)
    page.click("#settings summary")
    page.select_option("#strictness", "careful")
    page.wait_for_selector("#findings[aria-busy=true]", state="attached")
    settle(page)
    assert asked[-1]["strictness"] == "low" and page.locator("#edits li").count() <= usual
    page.select_option("#strictness", "usual")
    page.wait_for_selector(f"#edits li:nth-child({usual})")


def test_only_what_the_server_has_can_be_chosen(browser: Any, corrector: Corrector) -> None:
    projects = Projects(isolated=True, asked=Settings(dialect="en-GB"))
    with opened(browser, replace(corrector, presets={}), projects=projects) as page:
        write(page, "The theater is closed. They was late.")
        page.wait_for_selector("#edits li:has-text('theater theatre')")
        for name, left in (("strictness", "usual"), ("language", "en-GB")):
            offered = page.eval_on_selector_all(f"#{name} option:enabled", "all => all.map(option => option.value)")
            assert offered == [left] and page.input_value(f"#{name}") == left


def test_american_or_british(page: Page) -> None:
    write(page, "The colour of the theater is gray, and we organised it.")
    assert count(page) == "No suggestions"  # without a choice every word stays on its side
    page.click("#settings summary")
    page.select_option("#language", "en-US")
    page.wait_for_selector("#edits li:has-text('colour color')")
    page.select_option("#language", "en-GB")
    page.wait_for_selector("#edits li:has-text('theater theatre')")
    settle(page)
    assert page.locator("#edits li", has_text="colour color").count() == 0


def test_the_example_counts_words_and_goes_away(page: Page) -> None:
    assert count(page) == "No text yet" and page.inner_text("#words") == "0 words, 0 characters"
    page.click("#example")
    settle(page)
    assert page.inner_text("#words") == "76 words, 372 characters" and not page.is_visible("#example")
    page.click("#clear")
    page.wait_for_selector("#example", state="visible")
    write(page, "Hi🏠")
    assert page.inner_text("#words") == "1 word, 3 characters"


def test_files_come_and_go(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "letter.md"
    path.write_bytes(SHORT.replace(",", ",\r\n").encode())
    page.set_input_files("#file", path)
    settle(page)
    assert page.input_value("#text") == SHORT.replace(",", ",\n")
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "letter.md"
    assert Path(download.value.path()).read_text() == SHORT.replace(",", ",\n")
    path.write_bytes(b"\xff\xfe\x00")
    page.set_input_files("#file", path)
    page.wait_for_selector("#problem:has-text('letter.md is not text in UTF-8.')")
    settle(page)
    assert page.is_visible("#problem") and page.input_value("#text").startswith("She go")
    path.write_text("All is well.")
    page.set_input_files("#file", path)
    page.wait_for_selector("#problem", state="hidden")


def test_files_can_be_dropped(page: Page) -> None:
    page.evaluate("""() => {
        const given = new DataTransfer();
        given.items.add(new File(["They was late."], "a.txt"));
        document.getElementById("sheet").dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true }));
    }""")
    page.wait_for_selector("#edits li:has-text('was were')")


def test_all_changes_in_place(page: Page) -> None:
    write(page, SHORT)
    page.click("#compare")
    assert not page.is_visible("#text")
    shown = page.inner_html("#changes")
    assert "<del>becuase</del><ins>because</ins>" in shown
    assert re.sub(r"<ins>.*?</ins>|</?del>", "", shown) == SHORT
    page.click("#compare")
    page.click("#all")
    assert "because it's Monday" in page.input_value("#text")


# --- everybody (D14) ---------------------------------------------------------------------------------------------

VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 800}},
    "dark": {"viewport": {"width": 1200, "height": 800}, "color_scheme": "dark"},
    "forced": {"viewport": {"width": 1200, "height": 800}, "forced_colors": "active"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "narrow": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
    "still": {"viewport": {"width": 1200, "height": 800}, "reduced_motion": "reduce"},
}


@pytest.mark.parametrize("view", VIEWS)
def test_everybody_can_use_it(browser: Any, server: str, view: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(**VIEWS[view])
    for page in open_page(context, server):
        for state in ("empty", "popover", "settings", "changes"):
            if state == "popover":
                write(page, SHORT + "\n\n" + SHORT)
                page.keyboard.press("Control+Home")
                page.keyboard.press("F8")
                page.wait_for_selector("#popover")
            if state == "settings":
                page.click("#settings summary")
                page.click("#time summary")
            if state == "changes":
                page.click("#compare")
            found = axe.run(page).response["violations"]
            assert not found, (state, [(each["id"], [node["html"] for node in each["nodes"]]) for each in found])
            assert page.evaluate("document.documentElement.scrollWidth") <= VIEWS[view]["viewport"]["width"]
            assert page.evaluate("""() => {
                const place = (name) => document.querySelector(name).getBoundingClientRect();
                return place("main").bottom <= place("footer").top;
            }""")
        assert page.evaluate("document.getAnimations().length") == 0
    context.close()


@pytest.mark.parametrize("view", ["phone", "narrow"])
def test_in_a_long_text_the_next_one_is_at_hand(browser: Any, server: str, view: str) -> None:
    """No F8 on a phone: its buttons must not lie under the whole text."""
    context = browser.new_context(**VIEWS[view])
    for page in open_page(context, server):
        write(page, "\n\n".join([*sentences("leave_alone")[:60], SHORT]))
        page.evaluate("scrollTo(0, 0)")
        height = VIEWS[view]["viewport"]["height"]
        for name in ("#next", "#previous", "#all", "#count"):
            box = page.locator(name).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= height
        page.click("#next")
        box = page.locator("#marks mark.here").first.bounding_box()
        assert 0 <= box["y"] <= height / 2 and page.is_visible("#popover")
        popover, bar = page.locator("#popover").bounding_box(), page.locator("#next").bounding_box()
        assert popover["y"] + popover["height"] <= bar["y"]
    context.close()


def shoot(page: Page, **clip: float) -> Any:
    """The pixels of a part of the screen, in RGB."""
    return pytest.importorskip("PIL.Image").open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("between", [" ", "\n"], ids=["wrapped", "lines"])
def test_marks_are_seen_in_forced_colours(browser: Any, server: str, scheme: str, between: str) -> None:
    """D14: the plate that the system paints behind the text covered the marks of wrapped lines, in dark of all."""
    context = browser.new_context(**{**VIEWS["forced"], "viewport": {"width": 600, "height": 800}}, color_scheme=scheme)
    for page in open_page(context, server):
        write(page, between.join([SHORT] * 4))
        page.keyboard.press("Control+Home")
        marks = page.locator("#marks mark", has_text="becuase").all()
        assert len(marks) >= 4
        for box in (mark.bounding_box() for mark in marks):
            background = shoot(page, x=box["x"], y=box["y"], width=1, height=1).getpixel((0, 0))
            strip = shoot(page, x=box["x"], y=box["y"] + box["height"] - 3, width=box["width"], height=4)
            line = max((n for n, colour in strip.getcolors() if colour != background), default=0)
            assert line > 20, box
        page.click("#time summary")
        assert page.locator("#latency i").count()
        colours = page.eval_on_selector_all("#latency i", "all => all.map(i => getComputedStyle(i).backgroundColor)")
        assert len(set(colours)) > 1
    context.close()


def test_the_page_is_small() -> None:
    assert sum(file.stat().st_size for file in PAGE_FOLDER.iterdir()) < 100_000
