// What corrects a text. The page knows only this interface, so that another engine can take the server's place.
//
//   Engine.check(text, { strictness, language, signal }) is an async iterator. It gives, in order,
//     { start, end, edits }   a sentence as soon as it is done: text.slice(start, end)
//     { timing }              at the end: where the time went, in milliseconds
//   An edit is { start, end, original, replacement, confidence, type, message, reason }; it replaces
//   text.slice(start, end), which is `original`. Positions are UTF-16 code units, those of JavaScript's strings.
//   Edits of one answer are in order and do not overlap. `alternatives` may list further replacements.
//
// What any engine must answer is in tests/golden/engine.json: texts and their edits.

/** The engine cannot answer. `wait` is in how many milliseconds to ask again, 0 where asking again would not help. */
export class EngineError extends Error {
  constructor(message, wait = 0) {
    super(message);
    this.wait = wait;
  }
}

const STRICTNESS = { careful: "low", usual: "default", eager: "high" };

/** The server that this page comes from. */
export class ServerEngine {
  constructor(address = "v1/correct/stream") {
    this.address = address;
  }

  async *check(text, { strictness = "usual", language = "en", signal } = {}) {
    const dialect = language === "en" ? undefined : language;
    const body = { text, explain: true, strictness: STRICTNESS[strictness], dialect };
    const answer = await this.#ask(body, signal);
    for await (const line of lines(answer.body)) yield toFound(JSON.parse(line));
  }

  async #ask(body, signal) {
    let answer;
    try {
      answer = await fetch(this.address, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new EngineError("The server does not answer; trying again.", 2000);
    }
    if (answer.ok) return answer;
    const { detail } = await answer.json().catch(() => ({}));
    const wait = 1000 * Number(answer.headers.get("retry-after") || 0);
    throw new EngineError(typeof detail === "string" ? detail : "The server did not take the text.", wait);
  }
}

function toFound({ start_utf16, end_utf16, edits, timing }) {
  if (timing) return { timing };
  const inUnits = edits.map((edit) => ({ ...edit, start: edit.start_utf16, end: edit.end_utf16 }));
  return { start: start_utf16, end: end_utf16, edits: inUnits };
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}
