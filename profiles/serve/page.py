"""Pictures of the page of `edit-gec serve` for people to look at; tests/server/test_page.py tests it.

edit-gec serve &
python profiles/serve/page.py http://127.0.0.1:8081/ SHOTS     # needs playwright, Debian's chromium
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

DESKTOP = {"width": 1200, "height": 800}
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESKTOP},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "forced": {"viewport": DESKTOP, "forced_colors": "active"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "narrow": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
}


def main(address: str, folder: Path) -> None:
    """The empty page, the popover at a word, the settings and the view of all changes, in every view."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, view in VIEWS.items():
            page = browser.new_context(**view).new_page()
            page.goto(address)
            page.screenshot(path=folder / f"{name}-empty.png")
            page.click("#example")
            page.wait_for_selector("#findings[aria-busy=false]")
            page.focus("#text")
            page.keyboard.press("F8")
            page.keyboard.press("F8")
            page.screenshot(path=folder / f"{name}.png")
            page.click("#settings summary")
            page.click("#time summary")
            page.screenshot(path=folder / f"{name}-settings.png", full_page=True)
            page.click("#compare")
            page.screenshot(path=folder / f"{name}-changes.png")
            page.context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
