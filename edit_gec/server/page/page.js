// The page: connects the text area, the checker, the popover, the list and what the browser keeps.

import { CardList, drawFilters, showPopover } from "./cards.js";
import { Checker } from "./checker.js";
import { $, button, node } from "./dom.js";
import { actionOf, applied, keyOf, kindOf, nameOf, pieces } from "./edits.js";
import { Editor } from "./editor.js";
import { ServerEngine } from "./engine.js";
import { acceptDrops, copy, download, readText } from "./files.js";
import { drawTime } from "./latency.js";
import { Memory } from "./memory.js";
import { Words } from "./words.js";

const EXAMPLE = `I has recieved you letter yesterday, and i am very glad to here from you becuase its been a long time.

Your sister tell me that you moved to an new flat. How many room does it have? I think its great that you can walk to work, my office is much more further away then yours.

Please visit us in the summer . We could went to the lake, and the the children would love it.
`;
const editor = new Editor($("text"), $("marks"));
const engine = new ServerEngine();
const memory = new Memory();
const words = new Words(engine, memory);
const hidden = new Set(memory.settings.hidden || []); // kinds
let shown = []; // the edits that the writer sees
let here = null; // the one at the caret
let size = { words: 0, characters: 0 };
let isStale = false; // the text area holds something that the checker does not know yet
let isTyping = false; // the last event was a key that wrote: no popover then
let pinned = []; // edits that stay when one of them is accepted
let fileName = "text.txt";

const does = { accept, dismiss, ignore, learn, show: goTo };
const cards = new CardList($("edits"), does);
const checker = new Checker(engine, { changed: draw, timed: drawTime });

// --- drawing --------------------------------------------------------------------------------------------------------

function draw() {
  const { text } = checker;
  const wanted = checker.edits.filter((e) => !isUnwanted(e) && !memory.dismissed.has(keyOf(e, text)));
  shown = wanted.filter((e) => !hidden.has(kindOf(e)));
  drawFilters($("filters"), wanted, hidden, toggleKind);
  $("next").disabled = $("previous").disabled = !shown.length;
  $("all").disabled = !sure().length;
  drawCount(text);
  drawHere();
  if (!$("changes").hidden) drawChanges();
}

const isUnwanted = (edit) => memory.ignores(edit) || words.has(edit.original.trim());

/** What can be accepted together: the writer must look at hints one by one. */
const sure = () => shown.filter((edit) => !edit.isHint);

/** What depends on the caret. */
function drawHere() {
  const { caret } = editor;
  here = shown.find((e) => e.start <= caret && caret <= e.end) || null;
  editor.draw(checker.text, shown, here);
  cards.draw(checker.text, shown, here);
  drawPopover();
}

function drawPopover() {
  const focus = document.activeElement;
  const inside = $("popover").contains(focus);
  const rect = here && !isTyping && (inside || focus === editor.text) && editor.rectOf(here);
  if (!rect) $("popover").hidden = true;
  else if (!inside) showPopover($("popover"), here, rect, does);
}

/** Code points count as characters: an emoji of two UTF-16 units is one. */
function countText(text) {
  const words = text.match(/[\p{L}\p{N}]+(?:[-'’.,][\p{L}\p{N}]+)*/gu) || [];
  return { words: words.length, characters: [...text].length };
}

/** "1 word", "5,000 words". */
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function drawCount(text) {
  $("words").textContent = `${counted(size.words, "word")}, ${counted(size.characters, "character")}`;
  $("empty").hidden = text !== "";
  const found = counted(shown.length, "suggestion");
  const isBusy = checker.state === "checking" || checker.state === "waiting";
  const said = !text.trim() ? "No text yet" : checker.state === "failed" ? checker.message
    : isBusy ? (shown.length ? `Checking… ${found} so far` : "Checking…")
    : checker.foreign ? `${shown.length ? `${found}. ` : ""}Some of this looks like ${checker.foreign}; only English is checked`
    : shown.length ? found : "No suggestions";
  $("count").textContent = said;
  $("findings").setAttribute("aria-busy", String(isBusy));
  if (!isBusy && text.trim() && $("status").textContent !== said) announce(said);
}

function announce(what) {
  $("status").textContent = what;
}

/** What went wrong, until something is right again. */
function complain(message) {
  $("problem").hidden = !message;
  $("problem").textContent = message;
}

function drawChanges() {
  $("changes").replaceChildren(...pieces(checker.text, sure()).flatMap((piece) => typeof piece === "string" ? [piece]
    : [piece.original && node("del", {}, piece.original), piece.replacement && node("ins", {}, piece.replacement)]));
}

const KEPT = "Ignored corrections and settings stay in this browser, the text in this tab until it is closed.";

function drawKept() {
  drawList($("known"), words.all, unlearn);
  drawList($("ignored"), memory.ignored, (entry) => {
    memory.remove("ignored", entry);
    drawKept();
    draw();
  });
  const shared = "Your words are in your dictionary on this machine, which the command line and editors use too. ";
  $("kept").textContent = words.isShared ? shared + KEPT : `Your words stay in this browser. ${KEPT}`;
}

function drawList(place, entries, remove) {
  const items = [...entries].map((entry) =>
    node("li", {}, entry, " ", button("Remove", () => remove(entry), { "aria-label": `Remove ${entry}` })));
  place.replaceChildren(...(items.length ? items : [node("li", { className: "quiet" }, "none")]));
}

// --- what can be done with an edit ----------------------------------------------------------------------------------

function accept(edit, replacement = edit.replacement) {
  readInput();
  if (!checker.edits.includes(edit)) return;
  pinned = checker.edits.filter((e) => e.start !== edit.start || e.end !== edit.end);
  editor.replace(edit.start, edit.end, replacement);
  announce(`Accepted: ${replacement === edit.replacement ? actionOf(edit) : replacement}`);
}

function dismiss(edit) {
  memory.dismiss(keyOf(edit, checker.text));
  back();
}

function ignore(edit) {
  memory.ignore(edit);
  drawKept();
  back();
}

function learn(edit) {
  return change(() => words.add(edit.original.trim()), back);
}

/** The engine left out what it knew, hence everything is asked again. */
function unlearn(word) {
  return change(() => words.remove(word), () => checker.forget());
}

/** Change the writer's words, then do something. */
async function change(act, then) {
  try {
    await act();
    complain("");
  } catch (error) {
    complain(error.message);
  }
  drawKept();
  then();
}

/** From the popover to the text. */
function back() {
  if ($("popover").contains(document.activeElement)) editor.text.focus({ preventScroll: true });
  draw();
}

function acceptAll() {
  readInput();
  const edits = sure();
  if (!edits.length) return;
  const { start } = edits[0], { end } = edits.at(-1);
  editor.replace(start, end, applied(checker.text, edits, start, end));
  announce(`Accepted ${edits.length}.`);
}

function goTo(edit) {
  if (!$("changes").hidden) toggleChanges();
  isTyping = false;
  editor.reveal(edit);
  drawHere();
  const said = [`${edit.shown.original.trim() || "here"}: ${nameOf(edit)}. ${actionOf(edit)}.`, edit.reason];
  announce(said.filter(Boolean).join(" "));
}

function go(step) {
  readInput();
  if (!shown.length) return;
  const { caret } = editor;
  let n = shown.indexOf(here) + step;
  if (!here) n = step > 0 ? shown.findIndex((e) => e.start >= caret) : shown.findLastIndex((e) => e.end <= caret);
  if (n < 0 || n >= shown.length) n = step > 0 ? 0 : shown.length - 1;
  goTo(shown[n]);
}

// --- texts, settings ------------------------------------------------------------------------------------------------

function setText(text) {
  if (!$("changes").hidden) toggleChanges();
  editor.replace(0, editor.value.length, text);
  editor.text.setSelectionRange(0, 0);
  scrollTo({ top: 0, behavior: "instant" });
}

async function take(file) {
  try {
    setText(await readText(file));
    fileName = file.name;
    complain("");
  } catch (error) {
    complain(error.message);
  }
}

function toggleKind(kind) {
  if (!hidden.delete(kind)) hidden.add(kind);
  memory.set("hidden", [...hidden]);
  draw();
}

function toggleChanges() {
  const isOpen = $("changes").hidden;
  $("changes").hidden = !isOpen;
  $("sheet").hidden = isOpen;
  $("compare").setAttribute("aria-pressed", String(isOpen));
  draw();
}

async function forget() {
  memory.forget();
  hidden.clear();
  setText("");
  await open();
  checker.forget();
}

/** Offer what the engine has; where it does not answer, the usual. */
async function open() {
  try {
    const { strictness, language, longest, keepsWords } = await engine.describe();
    for (const option of $("strictness").options) option.disabled = !strictness.includes(option.value);
    for (const option of $("language").options) option.disabled = Boolean(language) && option.value !== language;
    checker.longest = longest;
    await words.open(keepsWords);
  } catch (error) {
    complain(error.message);
  }
  choose("strictness", "usual");
  choose("language", "en");
  drawKept();
}

/** Set an option to what was chosen before, or to the usual, or to what is left. */
function choose(name, usual) {
  const offered = [...$(name).options].filter((option) => !option.disabled).map((option) => option.value);
  $(name).value = [memory.settings[name], usual, offered[0]].find((value) => offered.includes(value));
  checker.options[name] = $(name).value;
}

// --- events ---------------------------------------------------------------------------------------------------------

/** Take over what was typed. A paste makes an event for each of its lines, hence once a frame. */
function readInput() {
  if (!isStale) return;
  isStale = false;
  const isFirst = !checker.text.trim();
  memory.keepText(editor.value);
  size = countText(editor.value);
  checker.setText(editor.value, { caret: editor.caret, pinned, ...(isFirst ? { wait: 0 } : {}) });
  pinned = [];
}

editor.text.addEventListener("input", () => {
  isTyping = !pinned.length;
  isStale = true;
  if (pinned.length) readInput();
  else requestAnimationFrame(readInput);
});
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== editor.text || isStale) return;
  const at = editor.caret;
  const now = shown.find((e) => e.start <= at && at <= e.end) || null;
  if (now !== here || (now && !isTyping && $("popover").hidden)) drawHere();
});
editor.text.addEventListener("pointerup", () => {
  isTyping = false;
  drawHere();
});
document.addEventListener("keydown", (event) => {
  const current = here && (document.activeElement === editor.text || $("popover").contains(document.activeElement));
  if (/^(Arrow|Home|End|Page)/.test(event.key)) isTyping = false;
  if (event.key === "F8") go(event.shiftKey ? -1 : 1);
  else if (event.altKey && event.key === "Enter" && current) accept(here);
  else if (event.altKey && event.key === "Backspace" && current) dismiss(here);
  else if (event.key === "Escape" && !$("popover").hidden) {
    editor.text.focus({ preventScroll: true });
    $("popover").hidden = true;
    isTyping = true;
  } else return;
  event.preventDefault();
});
document.addEventListener("focusin", (event) => {
  if (event.target !== editor.text && !$("popover").contains(event.target)) $("popover").hidden = true;
});
addEventListener("resize", () => {
  editor.fit();
  drawPopover();
});
$("all").addEventListener("click", acceptAll);
$("next").addEventListener("click", () => go(1));
$("previous").addEventListener("click", () => go(-1));
$("example").addEventListener("click", () => setText(EXAMPLE));
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  if ($("file").files.length) await take($("file").files[0]);
  $("file").value = ""; // so that the same file can be opened again
});
$("download").addEventListener("click", () => download(fileName, editor.value));
$("copy").addEventListener("click", async () => announce((await copy(editor.value, editor.text)) ? "Copied" : "Not copied"));
$("compare").addEventListener("click", toggleChanges);
$("clear").addEventListener("click", () => setText(""));
$("forget").addEventListener("click", forget);
for (const name of ["strictness", "language"])
  $(name).addEventListener("change", () => {
    memory.set(name, $(name).value);
    checker.setOptions({ [name]: $(name).value });
  });
acceptDrops($("sheet"), take);
editor.text.value ||= memory.text;
await open();
isStale = true;
readInput();
