"""The page of `edit-gec serve` in a real browser: it must work by keyboard, ask nobody else and fit a phone.

    edit-gec serve &
    python profiles/serve/page.py http://127.0.0.1:8081/ SHOTS     # needs playwright, Debian's chromium

Writes SHOTS/light.png, dark.png, phone.png and phone-dark.png, which are to be looked at. tests/server/test_page.py
runs it with a random model, where chromium is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

TEXT = (
    "I has two banana , but the the dog eat it.\n\nAnd then we wants to go home. \N{HOUSE BUILDING} The house are nice."
)
VIEWS: dict[str, tuple[Any, int, int]] = {
    "light": ("light", 1200, 800),
    "dark": ("dark", 1200, 800),
    "phone": ("light", 390, 900),
    "phone-dark": ("dark", 360, 900),
}


def write(page: Page, address: str) -> None:
    """Open the page and write the text."""
    page.goto(address)
    page.click("#text")
    page.keyboard.insert_text(TEXT)
    page.wait_for_selector("#edits li")
    page.wait_for_selector("#time:not([hidden])")


def use(page: Page) -> None:
    """Accept, take back, reject and accept all, by keyboard."""
    found = page.locator("#edits li").count()
    page.keyboard.press("F8")
    expect(page.locator("#edits li.here")).to_have_count(1)
    page.keyboard.press("Alt+Enter")
    assert page.input_value("#text") != TEXT
    page.keyboard.press("Control+z")
    assert page.input_value("#text") == TEXT
    expect(page.locator("#edits li")).to_have_count(found)
    page.keyboard.press("F8")
    page.keyboard.press("Alt+Backspace")
    expect(page.locator("#edits li")).to_have_count(found - 1)
    page.focus("#all")
    page.keyboard.press("Enter")
    assert page.input_value("#text") != TEXT
    page.keyboard.press("Control+z")
    assert page.input_value("#text") == TEXT


def main(address: str, folder: Path) -> None:
    """All views; ends with an AssertionError where something is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, (scheme, width, height) in VIEWS.items():
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
            asked: list[str] = []
            wrong: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("console", lambda message, wrong=wrong: wrong.append(message.text))
            page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
            write(page, address)
            page.screenshot(path=folder / f"{name}.png", full_page=True)
            use(page)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert not wrong, wrong
            assert all(url.startswith((address, "data:")) for url in asked), asked
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
