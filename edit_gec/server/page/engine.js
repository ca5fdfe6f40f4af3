// What corrects a text. The page knows only this interface, so that another engine can take the server's place.
//
//   Engine.describe() promises { strictness, language, keepsWords, longest }: which of careful, usual and eager there are;
//     the language that is set for everybody, or null; whether it keeps the writer's words; the longest text of a check.
//   Engine.check(text, { strictness, language, signal }) is an async iterator. It gives, in order,
//     { start, end, edits }   a sentence as soon as it is done: text.slice(start, end)
//     { timing, foreign }     at the end: where the time went, in milliseconds; the language, where it is not English
//   An edit is { start, end, original, replacement, confidence, type, kind, message, reason, alternatives, isHint }; it
//   replaces text.slice(start, end), which is `original`. Positions are UTF-16 code units, those of JavaScript's strings.
//   Edits of one answer are in order and do not overlap. `alternatives` are further replacements. A hint is a place that
//   looks wrong where no replacement is sure; it is never made unless the writer asks for it.
//   Engine.words(), addWord(word), removeWord(word) are promises: the writer's words, where the engine keeps them.
//
// What any engine must answer is in tests/golden/engine.json: texts and their edits (hints are not among them).

/** The engine cannot answer. `wait` is in how many milliseconds to ask again, 0 where asking again would not help. */
export class EngineError extends Error {
  constructor(message, wait = 0) {
    super(message);
    this.wait = wait;
  }
}

const STRICTNESS = { careful: "low", usual: "default", eager: "high" };
const MOST_WORDS = "100000";
const AGAIN_MS = 2000; // until a server that fails is asked again

/** The server that this page comes from. */
export class ServerEngine {
  async describe() {
    const { strictness, dialect, words, characters } = await (await ask("v1/info")).json();
    const names = Object.keys(STRICTNESS).filter((name) => strictness.includes(STRICTNESS[name]));
    return { strictness: names, language: dialect, keepsWords: words, longest: characters };
  }

  async *check(text, { strictness = "usual", language = "en", signal } = {}) {
    const dialect = language === "en" ? undefined : language;
    const body = JSON.stringify({ text, explain: true, suggest: true, strictness: STRICTNESS[strictness], dialect });
    const headers = { "content-type": "application/json" };
    const answer = await ask("v1/correct/stream", { method: "POST", headers, body, signal });
    let isWhole = false;
    for await (const line of lines(answer.body)) {
      const found = toFound(JSON.parse(line));
      isWhole ||= Boolean(found.timing);
      yield found;
    }
    if (!isWhole) throw new EngineError("The server broke off; trying again.", AGAIN_MS);
  }

  async words() {
    return (await (await ask(`v2/words?limit=${MOST_WORDS}`)).json()).words;
  }

  async addWord(word) {
    await ask("v2/words/add", { method: "POST", body: new URLSearchParams({ word }) });
  }

  async removeWord(word) {
    await ask("v2/words/delete", { method: "POST", body: new URLSearchParams({ word }) });
  }
}

/** The answer of the server. Throws EngineError where there is none, or not the one that was asked for. */
async function ask(address, how = {}) {
  let answer;
  try {
    answer = await fetch(address, how);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new EngineError("The server does not answer; trying again.", AGAIN_MS);
  }
  if (answer.ok) return answer;
  const isPassing = answer.status === 408 || answer.status >= 500;
  const wait = 1000 * Number(answer.headers.get("retry-after")) || (isPassing ? AGAIN_MS : 0);
  throw new EngineError(reasonOf(await answer.text()), wait);
}

/** What an error says: {"detail": "..."} below v1/, "Error: ..." below v2/. */
function reasonOf(said) {
  try {
    const { detail } = JSON.parse(said);
    return typeof detail === "string" ? detail : "The server did not take the text.";
  } catch {
    return said.replace(/^Error: /, "") || "The server did not take the text.";
  }
}

function toFound({ start_utf16, end_utf16, edits, hints, timing, language }) {
  if (timing) return { timing, foreign: language?.name };
  const all = [...edits.map((edit) => toUnits(edit, false)), ...hints.map((edit) => toUnits(edit, true))];
  return { start: start_utf16, end: end_utf16, edits: all.sort((a, b) => a.start - b.start || a.end - b.end) };
}

const toUnits = (edit, isHint) => ({ ...edit, start: edit.start_utf16, end: edit.end_utf16, isHint });

/** The lines of a stream, those that came where it breaks off. */
async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      return { done: true };
    });
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}
