// Edits as values: how they move with the text, which kind they are, how they are named. No page, no engine.

export const KINDS = {
  spelling: "Spelling", grammar: "Grammar", punctuation: "Punctuation", wording: "Wording", hint: "Unsure",
};
const BY_CATEGORY = {
  SPELL: "spelling", PUNCT: "punctuation", ORTH: "punctuation", OTHER: "wording", WO: "wording", ADJ: "wording",
  ADV: "wording", NOUN: "wording", VERB: "wording", CONJ: "wording",
};

const subjectOf = (edit) => BY_CATEGORY[(edit.type || "R:OTHER").slice(2)] || "grammar";

/** One of KINDS: a hint is unsure; others go by ERRANT's type, "R:VERB:SVA" is grammar, "R:SPELL" spelling. */
export const kindOf = (edit) => (edit.isHint ? "hint" : subjectOf(edit));

/** How sure the engine is, in a writer's words. */
export function sureness({ isHint, confidence }) {
  if (isHint) return "unsure";
  return confidence >= 0.7 ? "sure" : confidence >= 0.45 ? "likely" : "maybe";
}

/** The name of the error: "spelling" of the message "spelling: 'teh' -> 'the'". */
export const nameOf = (edit) => (edit.message || "correction").split(": '")[0];

/** Whether the edit doubts one word that a dictionary may lack. */
export const doubtsWord = (edit) => subjectOf(edit) !== "grammar" && /^\p{L}[\p{L}\p{M}'’-]*$/u.test(edit.original);

/** The edit with `shown`, all sides in whole words ("don't" and "doesn't" where only "don" becomes "doesn"), and how
 *  far these reach beyond its two ends. */
export function withWords(edit, text) {
  const { start, end, original, replacement, alternatives = [] } = edit;
  const before = /^\p{L}/u.test(original) ? /\p{L}+['’]$|$/u.exec(text.slice(Math.max(0, start - 30), start))[0] : "";
  const after = /\p{L}$/u.test(original) ? /^['’]\p{L}+|^/u.exec(text.slice(end, end + 30))[0] : "";
  const whole = (part) => before + part + after;
  const shown = { original: whole(original), replacement: whole(replacement) };
  const others = alternatives.map((part) => ({ label: labelOf(shown.original, whole(part)), replacement: part }));
  return { ...edit, shown, others, reach: [before.length, after.length] };
}

/** The edits of `was`, moved along with what was typed until `now`; those that were typed into are gone. */
export function follow(edits, was, now) {
  if (was === now) return edits;
  const shorter = Math.min(was.length, now.length);
  let head = 0, tail = 0;
  while (head < shorter && was[head] === now[head]) head++;
  while (tail < shorter - head && was[was.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const end = was.length - tail, shift = now.length - was.length;
  const touches = (e) => e.end >= head && e.start <= end && !(e.end === head && !/\w/.test(now[head] || ""));
  return edits.filter((e) => !touches(e))
    .map((e) => (e.start > end || (e.start === end && e.end > end) ? { ...e, start: e.start + shift, end: e.end + shift } : e));
}

/** What stays the same when the text around an edit moves, for remembering that it was dismissed. */
export const keyOf = (edit, text) =>
  JSON.stringify([edit.original, edit.replacement, text.slice(Math.max(0, edit.start - 12), edit.start)]);

/** The pieces of the text with the edits in it: strings, and edits where they are. */
export function pieces(text, edits, start = 0, end = text.length) {
  const out = [];
  let done = start;
  for (const edit of edits) {
    out.push(text.slice(done, edit.start), edit);
    done = edit.end;
  }
  return [...out, text.slice(done, end)];
}

/** text.slice(start, end) with its edits made. */
export const applied = (text, edits, start, end) =>
  pieces(text, edits, start, end).map((piece) => piece.replacement ?? piece).join("");

/** White space made visible where there is nothing else. */
export const visible = (part) => (part.trim() ? part : part.replace(/ /g, "␣").replace(/\n/g, "⏎"));

/** What the button that makes the edit says. */
export const actionOf = ({ shown }) => labelOf(shown.original, shown.replacement);

function labelOf(original, replacement) {
  if (!replacement.trim() && !original.trim()) return "Fix the spacing";
  if (!replacement.trim()) return `Remove “${original.trim()}”`;
  return original.trim() ? replacement.trim() : `Insert “${replacement.trim()}”`;
}
