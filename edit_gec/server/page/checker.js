// Keeps the edits of a text up to date: asks the engine about blocks that it does not know, shows what comes as it
// comes, moves what it has along with the typing. A block that was seen before is not asked again.

import { LONGEST, nextRun, splitBlocks } from "./blocks.js";
import { follow, withWords } from "./edits.js";

const WAIT_MS = 250; // after the last key
const FIRST = 800, LATER = 8000; // characters of a request
const REMEMBERED = 4000; // blocks
const SHOWN_MS = 150; // between two looks at what came so far; four times that where much has come
const MUCH = 60; // edits

export class Checker {
  /** `changed` is called when edits, `state` or `message` did change; `timed` with the timing of an answer. */
  constructor(engine, { changed, timed }) {
    Object.assign(this, { engine, changed, timed });
    this.text = "";
    this.edits = [];
    this.state = "done"; // done, waiting, checking, failed
    this.message = "";
    this.options = { strictness: "usual", language: "en" };
    this.longest = Infinity; // characters of a text that the engine takes
    this.caret = 0;
    this.known = new Map(); // options and block -> its edits
    this.partial = new Map(); // the same of blocks that are being read: { end, edits }
    this.timer = 0;
    this.request = null;
    this.shownAt = 0;
  }

  /** The text is this now. `pinned` edits stay until they are typed into, whatever the engine says next. */
  setText(text, { caret = 0, wait = WAIT_MS, pinned = [] } = {}) {
    this.edits = follow(pin(this.edits, new Set(pinned)), this.text, text);
    if (!pinned.length) this.edits = release(this.edits, this.#blocks(text).find((b) => b.start <= caret && caret <= b.end));
    this.text = text;
    this.caret = caret;
    this.#start(wait);
  }

  setOptions(options) {
    this.options = { ...this.options, ...options };
    this.edits = [];
    this.#start(0);
  }

  /** Ask about everything again. */
  forget() {
    this.known.clear();
    this.#start(0);
  }

  #blocks(text) {
    return splitBlocks(text, Math.min(LONGEST, this.longest));
  }

  #key(block) {
    return `${this.options.strictness} ${this.options.language} ${block.text}`;
  }

  /** A block that is too long has a fence: it is code. */
  #isMissing = (block) => block.text.length <= this.longest && !this.known.has(this.#key(block));

  #start(wait) {
    clearTimeout(this.timer);
    this.request?.abort();
    this.partial.clear();
    const isMissing = this.#blocks(this.text).some(this.#isMissing);
    this.#show(isMissing ? "waiting" : "done");
    if (isMissing) this.timer = setTimeout(() => this.#run(), wait);
  }

  async #run() {
    const request = (this.request = new AbortController());
    const text = this.text;
    const blocks = this.#blocks(text);
    let most = FIRST;
    try {
      for (;;) {
        const run = nextRun(blocks, this.#isMissing, this.caret, Math.min(most, this.longest));
        if (!run.length) break;
        this.#show("checking");
        await this.#read(run, text, request.signal);
        most = LATER;
      }
      this.#show("done");
    } catch (error) {
      if (request.signal.aborted) return;
      this.#show("failed", error.message);
      if (error.wait) this.timer = setTimeout(() => this.#run(), error.wait);
    }
  }

  /** Ask about a run of blocks; each is remembered as soon as a sentence behind it comes. */
  async #read(run, text, signal) {
    const { start } = run[0];
    const asked = text.slice(start, run.at(-1).end);
    const found = new Map(run.map((block) => [block, []]));
    let at = 0; // the block that the last sentence was in
    let foreign; // the language of a run that is not English: no sentence of it comes
    for await (const sentence of this.engine.check(asked, { ...this.options, signal })) {
      signal.throwIfAborted();
      if (sentence.timing) {
        this.timed(sentence.timing);
        foreign = sentence.foreign;
        continue;
      }
      while (at + 1 < run.length && run[at + 1].start <= start + sentence.start) this.#remember(run[at], found.get(run[at++]));
      const shift = start - run[at].start;
      found.get(run[at]).push(...place(sentence.edits.map((e) => withWords(e, asked)), shift));
      this.partial.set(this.#key(run[at]), { end: sentence.end + shift, edits: found.get(run[at]) });
      const wait = this.edits.length > MUCH ? 4 * SHOWN_MS : SHOWN_MS;
      if (performance.now() - this.shownAt > wait) this.#show("checking");
    }
    for (; at < run.length; at++) this.#remember(run[at], found.get(run[at]), foreign);
  }

  /** The first language other than English in the text, if there is one. */
  get foreign() {
    return this.#blocks(this.text).map((block) => this.known.get(this.#key(block))?.foreign).find(Boolean);
  }

  #remember(block, edits, foreign) {
    this.partial.delete(this.#key(block));
    this.known.set(this.#key(block), { edits, start: 0, placed: edits, foreign });
    if (this.known.size > REMEMBERED) this.known.delete(this.known.keys().next().value);
  }

  #show(state, message = "") {
    this.edits = this.#collect();
    this.shownAt = performance.now();
    this.state = state;
    this.message = message;
    this.changed();
  }

  /** The edits of every block: known ones, those that came so far, and else those that moved along. */
  #collect() {
    const old = this.edits;
    const out = [];
    let first = 0;
    for (const block of this.#blocks(this.text)) {
      while (first < old.length && old[first].start < block.start) first++;
      let last = first;
      while (last < old.length && old[last].end <= block.end) last++;
      const { end, placed: here } = this.#answer(block);
      const kept = old.slice(first, last).filter((e) => e.pinned ? !here.some((n) => meet(n, e)) : e.start > end);
      out.push(...[...here, ...kept].sort((a, b) => a.start - b.start || a.end - b.end));
      first = last;
    }
    return out;
  }

  /** The edits of a block where they are in the text, and up to where they are known. Equal answers are the same. */
  #answer(block) {
    const key = this.#key(block);
    const known = this.known.get(key);
    if (!known) {
      const { end, edits } = this.partial.get(key) || { end: -1 - block.start, edits: [] };
      return { end: end + block.start, placed: place(edits, block.start) };
    }
    if (known.start !== block.start) Object.assign(known, { start: block.start, placed: place(known.edits, block.start) });
    return { end: Infinity, placed: known.placed };
  }
}

const pin = (edits, pinned) => (pinned.size ? edits.map((e) => (pinned.has(e) ? { ...e, pinned: true } : e)) : edits);

/** In a block that is written in, nothing is pinned any more. */
const release = (edits, block) =>
  edits.map((e) => (e.pinned && block && block.start <= e.start && e.end <= block.end ? { ...e, pinned: false } : e));

const place = (edits, shift) => edits.map((e) => ({ ...e, start: e.start + shift, end: e.end + shift }));

const meet = (a, b) => a.start <= b.end && b.start <= a.end;
