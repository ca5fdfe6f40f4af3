// The text area, and the marks under it: one line of marks for each line of the text, so that only lines that changed
// are laid out again. Both wrap alike (page.css).

import { node } from "./dom.js";
import { kindOf, pieces } from "./edits.js";

export class Editor {
  constructor(text, marks) {
    this.text = text;
    this.marks = marks;
    this.lines = []; // what each line of marks was made from
    this.fitsItself = CSS.supports("field-sizing", "content"); // page.css
    this.places = new Map(); // edit -> its mark
  }

  get value() {
    return this.text.value;
  }

  get caret() {
    return this.text.selectionStart;
  }

  /** Mark the edits of `value`; `here` is the current one. */
  draw(value, edits, here) {
    const wanted = cutLines(value, edits, here);
    let head = 0, tail = 0;
    const shorter = Math.min(wanted.length, this.lines.length);
    while (head < shorter && wanted[head].sign === this.lines[head].sign) head++;
    while (tail < shorter - head && wanted.at(-1 - tail).sign === this.lines.at(-1 - tail).sign) tail++;
    const old = [...this.marks.children].slice(head, this.lines.length - tail);
    const fresh = wanted.slice(head, wanted.length - tail).map(({ parts }) => node("div", {}, ...parts.map(toNode)));
    if (old.length) old[0].before(...fresh);
    else if (head) this.marks.children[head - 1].after(...fresh);
    else this.marks.prepend(...fresh);
    for (const line of old) line.remove();
    this.lines = wanted;
    this.#findPlaces();
    if (value !== this.drawn) this.fit();
    this.drawn = value;
  }

  #findPlaces() {
    this.places.clear();
    const marks = this.marks.getElementsByTagName("mark");
    let n = 0;
    for (const { parts } of this.lines)
      for (const { edit } of parts)
        if (edit) {
          if (!this.places.has(edit)) this.places.set(edit, marks[n]);
          n++;
        }
  }

  /** As high as its text. */
  fit() {
    if (this.fitsItself) return;
    this.text.style.height = "auto";
    this.text.style.height = `${Math.max(this.text.scrollHeight, this.marks.scrollHeight)}px`;
  }

  /** Where the first line of an edit stands on the screen, or undefined. */
  rectOf(edit) {
    return this.places.get(edit)?.getClientRects()[0];
  }

  /** Put the caret at an edit and bring it into view. */
  reveal(edit) {
    this.text.focus({ preventScroll: true });
    this.text.setSelectionRange(edit.start, edit.start);
    const rect = this.rectOf(edit);
    if (!rect || (rect.top > 60 && rect.bottom < innerHeight - 160)) return;
    scrollBy({ top: rect.top - innerHeight / 3, behavior: "instant" });
  }

  /** Replace a part of the text through the browser's own editing, so that Ctrl-Z takes it back. */
  replace(start, end, replacement) {
    const { scrollX, scrollY } = window;
    this.text.focus({ preventScroll: true });
    this.text.setSelectionRange(start, end);
    if (!document.execCommand(replacement ? "insertText" : "delete", false, replacement)) {
      this.text.setRangeText(replacement, start, end, "end");
      this.text.dispatchEvent(new Event("input"));
    }
    scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
  }
}

/** The lines of the text as { parts, sign }: parts are strings and marked stretches; equal signs look equal. */
function cutLines(value, edits, here) {
  const lines = [[]];
  for (const piece of pieces(value, edits)) {
    const edit = typeof piece === "string" ? null : piece;
    (edit ? value.slice(edit.start, edit.end) : piece).split("\n").forEach((text, n) => {
      if (n) lines.push([]);
      if (edit ? text || edit.start === edit.end : text) lines.at(-1).push({ text, edit, isHere: edit === here });
    });
  }
  return lines.map((parts) => ({ parts, sign: JSON.stringify(parts.map(signOf)) }));
}

const signOf = ({ text, edit, isHere }) => (edit ? [text, kindOf(edit), isHere] : text);

function toNode({ text, edit, isHere }) {
  if (!edit) return text;
  return node("mark", { className: `${kindOf(edit)}${isHere ? " here" : ""}${text ? "" : " point"}` }, text);
}
