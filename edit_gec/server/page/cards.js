// What an edit looks like: in the popover at its word, and in the list beside the text.

import { button, node } from "./dom.js";
import { actionOf, doubtsWord, KINDS, kindOf, nameOf, sureness, visible } from "./edits.js";

/** "becuase because", the old struck out. */
function change({ shown: { original, replacement } }) {
  const parts = [];
  if (original) parts.push(node("del", {}, visible(original)));
  if (original.trim() && replacement.trim()) parts.push(" ");
  if (replacement) parts.push(node("ins", {}, visible(replacement)));
  return parts;
}

/** Kind, name and sureness in one line. */
const about = (edit) =>
  node("p", { className: `what ${kindOf(edit)}` }, node("span", { className: "kind" }, nameOf(edit)), ` · ${sureness(edit)}`);

/** One sentence that says why, where there is one. */
const reason = (edit) => (edit.reason ? [node("p", { className: "reason" }, edit.reason)] : []);

function spoken(edit) {
  const { original, replacement } = edit.shown;
  return original.trim() && replacement.trim() ? `${original.trim()} to ${replacement.trim()}` : actionOf(edit);
}

/** What may stand in the place of an edit: its replacement, then the others. */
function replacements(edit, does) {
  const first = { className: edit.isHint ? "" : "main", "aria-label": `Accept: ${spoken(edit)}` };
  const others = edit.others.map(({ label, replacement }) => button(label, () => does.accept(edit, replacement)));
  return [button(actionOf(edit), () => does.accept(edit), first), ...others];
}

/** What else can be done with an edit; `does` has dismiss, ignore and learn. */
function refusals(edit, does) {
  const made = [button("Dismiss", () => does.dismiss(edit)), button("Always ignore", () => does.ignore(edit))];
  return doubtsWord(edit) ? [...made, button("Add to dictionary", () => does.learn(edit))] : made;
}

/** Fill the popover and put it under the word, or above where there is no room, inside the text's column. */
export function showPopover(popover, edit, rect, does) {
  popover.replaceChildren(
    about(edit), ...(edit.isHint ? [] : [node("p", { className: "change" }, ...change(edit))]), ...reason(edit),
    node("div", { className: "choose" }, ...replacements(edit, does)),
    node("div", { className: "choose refuse" }, ...refusals(edit, does)),
  );
  popover.hidden = false;
  const column = popover.offsetParent.getBoundingClientRect();
  const left = Math.min(rect.left - column.left, column.width - popover.offsetWidth);
  popover.style.left = `${Math.max(0, left)}px`;
  const fits = rect.bottom + popover.offsetHeight + 6 <= innerHeight || rect.top < popover.offsetHeight;
  popover.style.top = `${(fits ? rect.bottom + 6 : rect.top - popover.offsetHeight - 6) - column.top}px`;
}

/** The list of cards. A card is made once and kept while its edit looks the same. */
export class CardList {
  constructor(list, does) {
    this.list = list;
    this.does = does;
    this.cards = new Map(); // how it looks -> cards
  }

  draw(text, edits, here) {
    const before = this.cards;
    this.cards = new Map();
    const cards = edits.map((edit) => {
      const look = JSON.stringify([edit.original, edit.replacement, edit.message, edit.confidence, edit.isHint, ...around(text, edit)]);
      const card = before.get(look)?.shift() || this.#make(text, edit);
      card.edit = edit;
      card.classList.toggle("here", edit === here);
      this.cards.set(look, [...(this.cards.get(look) || []), card]);
      return card;
    });
    const shown = [...this.list.children];
    if (shown.length !== cards.length || cards.some((card, n) => card !== shown[n])) this.#place(cards);
    if (here) this.#scrollTo(cards[edits.indexOf(here)]);
  }

  /** Put the cards in order without taking those away that stay: the focus would be lost. */
  #place(cards) {
    const staying = new Set(cards);
    for (const card of [...this.list.children]) if (!staying.has(card)) card.remove();
    cards.forEach((card, n) => {
      if (this.list.children[n] !== card) this.list.insertBefore(card, this.list.children[n] || null);
    });
  }

  #make(text, edit) {
    const [before, after] = around(text, edit);
    const card = node("li", { className: kindOf(edit) });
    const context = (part) => node("span", { className: "around" }, part);
    const show = button("", () => this.does.show(card.edit), { className: "change", "aria-label": `Show: ${spoken(edit)}` });
    show.append(context(before), ...change(edit), context(after));
    const accept = button("Accept", () => this.does.accept(card.edit), { className: edit.isHint ? "" : "main", "aria-label": `Accept: ${spoken(edit)}` });
    const dismiss = button("Dismiss", () => this.does.dismiss(card.edit), { "aria-label": `Dismiss: ${spoken(edit)}` });
    card.append(show, about(edit));
    card.append(...reason(edit), node("div", { className: "choose" }, accept, dismiss));
    return card;
  }

  /** Scroll the list, never the page. */
  #scrollTo(card) {
    const { list } = this;
    if (list.scrollHeight <= list.clientHeight) return;
    const top = card.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + card.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - (list.clientHeight - card.offsetHeight) / 2;
  }
}

const contexts = new WeakMap();

/** Some words before and after an edit. */
function around(text, edit) {
  if (!contexts.has(edit)) contexts.set(edit, findContext(text, edit));
  return contexts.get(edit);
}

function findContext(text, { start: first, end: last, reach }) {
  const start = first - reach[0], end = last + reach[1];
  const before = text.slice(Math.max(0, start - 24), start).replace(/^\S*\s(?=.)/s, "").replace(/\s+/g, " ").trimStart();
  const after = text.slice(end, end + 24).replace(/\s\S*$/s, "").replace(/\s+/g, " ");
  return [before, after];
}

/** Buttons that show and hide kinds, with how many there are of each. */
export function drawFilters(place, edits, hidden, toggle) {
  place.hidden = !edits.length;
  const counts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  for (const edit of edits) counts[kindOf(edit)]++;
  const used = Object.entries(KINDS).filter(([kind]) => kind !== "hint" || counts.hint || hidden.has("hint"));
  const made = used.map(([kind, name]) => button(
    `${name} ${counts[kind]}`, () => toggle(kind),
    { className: `filter ${kind}`, "aria-pressed": String(!hidden.has(kind)), "data-kind": kind },
  ));
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.kind : "";
  place.replaceChildren(...made);
  if (focused) place.querySelector(`[data-kind="${focused}"]`)?.focus();
}
