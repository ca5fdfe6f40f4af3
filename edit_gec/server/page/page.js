// The page to write on. The text area holds the text, #marks under it shows where the edits are, #edits what they are.
// Positions are UTF-16 code units everywhere here: those of JavaScript's strings and of the answer's *_utf16 fields.
"use strict";

const WAIT_MS = 250; // after the last key
const STAGES = {
  prepare: "sentences and pieces", queue: "waiting for others", encoder: "encoder", other: "tags and plan",
  steps: "insertion steps", verify: "verification", explain: "naming the edits",
};
const $ = (id) => document.getElementById(id);
const text = $("text");

let edits = []; // {start, end, original, replacement, confidence, message, type}, in order
let here = -1; // the edit at the cursor
let shown = ""; // the text that `edits` belong to
let rejected = new Set(); // "original > replacement | words around", so that it stays rejected while the text moves
let asked = null; // the request on its way
let timer = 0;

function node(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

// --- asking ---------------------------------------------------------------------------------------------------------

async function ask() {
  clearTimeout(timer);
  asked?.abort();
  const request = (asked = new AbortController());
  const sent = text.value;
  const body = { text: sent, explain: true };
  if ($("least").value !== "0") body.min_confidence = $("least").value / 100;
  try {
    const answer = await fetch("v1/correct", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal: request.signal,
    });
    if (answer.status === 429 || answer.status === 503) return later(1000 * (answer.headers.get("retry-after") || 2));
    const found = await answer.json();
    if (request.signal.aborted) return;
    if (!answer.ok) return say(typeof found.detail === "string" ? found.detail : "The server did not take the text.");
    shown = sent;
    edits = found.edits.map((e) => ({ ...e, start: e.start_utf16, end: e.end_utf16 })).filter((e) => !rejected.has(key(e)));
    follow(text.value);
    draw();
    drawTime(found.timing);
  } catch (error) {
    if (error.name !== "AbortError") {
      say("The server does not answer; trying again.");
      later(2000);
    }
  }
}

function later(wait) {
  clearTimeout(timer);
  timer = setTimeout(ask, wait);
}

// Move the edits along with what was typed since they were asked for; those that were typed into are gone.
function follow(now) {
  const old = shown;
  if (old === now) return;
  const shorter = Math.min(old.length, now.length);
  let head = 0, tail = 0;
  while (head < shorter && old[head] === now[head]) head++;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const end = old.length - tail, shift = now.length - old.length;
  edits = edits.filter((e) => e.end < head || e.start > end || (e.end === head && !/\w/.test(now[head] || "")));
  for (const e of edits) if (e.start > end) { e.start += shift; e.end += shift; }
  shown = now;
}

const key = (e) => JSON.stringify([e.original, e.replacement, shown.slice(Math.max(0, e.start - 12), e.start)]);

// --- drawing --------------------------------------------------------------------------------------------------------

function draw() {
  here = edits.findIndex((e) => e.start <= text.selectionStart && text.selectionStart <= e.end);
  const marks = [];
  let done = 0;
  edits.forEach((e, n) => {
    const mark = node("mark", { className: n === here ? "here" : "" }, shown.slice(e.start, e.end));
    if (e.start === e.end) mark.classList.add("point");
    marks.push(shown.slice(done, e.start), mark);
    done = e.end;
  });
  $("marks").replaceChildren(...marks, shown.slice(done) + "\n");
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
  const focused = document.activeElement?.dataset?.of;
  $("edits").replaceChildren(...edits.map(card));
  if (focused) $("edits").querySelector(`[data-of="${focused}"]`)?.focus();
  say(edits.length === 0 ? "No corrections" : edits.length === 1 ? "1 correction" : `${edits.length} corrections`);
  $("all").disabled = edits.length === 0;
}

function card(e, n) {
  const before = shown.slice(Math.max(0, e.start - 24), e.start).replace(/^\S*\s(?=.)/s, "").replace(/\s+/g, " ");
  const after = shown.slice(e.end, e.end + 24).replace(/\s\S*$/s, "").replace(/\s+/g, " ");
  const change = node("div", { className: "change" }, node("span", { className: "around" }, before));
  if (e.original) change.append(node("del", {}, visible(e.original)));
  if (e.original.trim() && e.replacement.trim()) change.append(" ");
  if (e.replacement) change.append(node("ins", {}, visible(e.replacement)));
  change.append(node("span", { className: "around" }, after));
  const percent = Math.round(100 * e.confidence);
  const what = node("div", { className: "what" },
    node("span", {}, (e.message || "correction").split(": '")[0]),
    node("span", { title: "how sure the model is" }, node("meter", { min: 0, max: 100, value: percent }), ` ${percent}% sure`));
  const name = e.original ? `${e.original} to ${e.replacement || "nothing"}` : `insert ${e.replacement}`;
  const accept = node("button", { className: "main", type: "button", onclick: () => take(n) }, "Accept");
  const reject = node("button", { type: "button", onclick: () => drop(n) }, "Reject");
  accept.setAttribute("aria-label", `Accept: ${name}`);
  reject.setAttribute("aria-label", `Reject: ${name}`);
  accept.dataset.of = `accept ${n}`;
  reject.dataset.of = `reject ${n}`;
  return node("li", { className: n === here ? "here" : "" }, change, what, node("div", { className: "choose" }, accept, reject));
}

const visible = (part) => (part.trim() ? part : part.replace(/ /g, "␣").replace(/\n/g, "⏎"));

function say(what) {
  $("count").textContent = what;
}

function drawTime(timing) {
  const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
  const all = Object.entries(STAGES).map(([name, label]) => ({ name, label, took: timing[`${name}_ms`] }));
  const parts = all.filter((part) => part.took > 0);
  $("time").hidden = false;
  $("total").textContent = ms(timing.total_ms);
  $("latency").replaceChildren(...parts.map((part) => {
    const piece = node("i", { className: part.name, title: `${part.label}: ${ms(part.took)}` });
    piece.style.flexGrow = part.took;
    return piece;
  }));
  $("latency").setAttribute("aria-label", parts.map((part) => `${part.label} ${ms(part.took)}`).join(", "));
  $("legend").replaceChildren(...parts.map((part) =>
    node("div", {}, node("dt", { className: part.name }, node("span", {}, part.label)), node("dd", {}, ms(part.took)))));
  const steps = timing.steps ? `${timing.steps} insertion steps × ${ms(timing.steps_ms / timing.steps)}` : "no insertion";
  const verify = timing.verify_ms ? ` + verification ${ms(timing.verify_ms)}` : "";
  const model = `Model: encoder ${ms(timing.encoder_ms)} + ${steps} + tags and plan ${ms(timing.other_ms)}${verify}. `;
  const known = timing.cached ? `${timing.cached} of ${timing.sentences} sentences were known already.` : "";
  $("formula").textContent = (timing.encoder_ms ? model : "") + known;
}

// --- accepting and rejecting ----------------------------------------------------------------------------------------

// Through the browser's own editing, so that Ctrl-Z takes it back.
function write(start, end, replacement) {
  const scroll = window.scrollY;
  text.focus({ preventScroll: true });
  text.setSelectionRange(start, end);
  if (!document.execCommand(replacement ? "insertText" : "delete", false, replacement))
    text.setRangeText(replacement, start, end, "end");
  window.scrollTo(0, scroll);
}

function take(n) {
  const e = edits[n];
  edits.splice(n, 1);
  write(e.start, e.end, e.replacement);
}

function drop(n) {
  rejected.add(key(edits[n]));
  edits.splice(n, 1);
  draw();
}

$("all").addEventListener("click", () => {
  if (!edits.length) return;
  const first = edits[0].start, last = edits.at(-1).end;
  let changed = "", done = first;
  for (const e of edits) {
    changed += shown.slice(done, e.start) + e.replacement;
    done = e.end;
  }
  edits = [];
  write(first, last, changed);
});

function go(step) {
  if (!edits.length) return;
  const at = text.selectionStart;
  let n = step > 0 ? edits.findIndex((e) => e.start > at) : edits.findLastIndex((e) => e.end < at);
  if (n < 0) n = step > 0 ? 0 : edits.length - 1;
  text.focus();
  text.setSelectionRange(edits[n].start, edits[n].start);
  draw();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "F8") go(event.shiftKey ? -1 : 1);
  else if (event.altKey && event.key === "Enter" && here >= 0) take(here);
  else if (event.altKey && event.key === "Backspace" && here >= 0) drop(here);
  else return;
  event.preventDefault();
});

text.addEventListener("input", () => {
  follow(text.value);
  draw();
  later(WAIT_MS);
});
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== text) return;
  const now = edits.findIndex((e) => e.start <= text.selectionStart && text.selectionStart <= e.end);
  if (now !== here) {
    draw();
    $("edits").children[here]?.scrollIntoView({ block: "nearest" });
  }
});
addEventListener("resize", draw);
$("least").addEventListener("input", () => {
  $("sure").textContent = $("least").value === "0" ? "the model's own limit" : `${$("least").value}%`;
  later(WAIT_MS);
});
$("copy").addEventListener("click", () => {
  text.focus();
  text.select();
  document.execCommand("copy");
  say("Copied");
});
draw();
if (text.value) ask(); // a browser keeps the text when the page is reloaded
