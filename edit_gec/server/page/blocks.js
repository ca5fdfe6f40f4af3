// Text -> blocks that are checked on their own: paragraphs, with what stands between two fences in one piece. Behind a
// paragraph that is one long line, the next line is another block. What is still too long is cut after a sentence.

export const LONGEST = 4000; // characters of a block, unless it has a fence
const UNWRAPPED = 120; // characters of a line that nobody has wrapped
const FENCE = /^ {0,3}(```|~~~)/;
const ENDS = /[.!?…]["”’»)\]*_]*\s*$/; // with a sentence
const OPENS = /^(?![\s>|]|[=-]+\s*$)/; // a line that is no part of a list, a quotation, a table or a heading
const SENTENCE = /[.!?…]["”’»)\]]*\s+(?=\S)/g;

/** Blocks { start, end, text } in order; blank space between them belongs to none. */
export function splitBlocks(text, longest = LONGEST) {
  const blocks = [];
  let start = -1, end = 0, at = 0, fence = "", hasFence = false, isOver = false;
  const close = () => {
    if (start >= 0) blocks.push(...(hasFence ? [block(text, start, end)] : cut(text, start, end, longest)));
    start = -1;
    hasFence = false;
  };
  for (const line of text.split("\n")) {
    if (!fence && (!line.trim() || (isOver && OPENS.test(line)))) close();
    if (fence || line.trim()) {
      if (start < 0) start = at;
      end = at + line.length;
      const mark = FENCE.exec(line)?.[1] ?? "";
      if (mark && (!fence || fence === mark)) fence = fence ? "" : mark;
      hasFence ||= Boolean(mark);
    }
    isOver = line.length > UNWRAPPED && OPENS.test(line) && ENDS.test(line.slice(-12));
    at += line.length + 1;
  }
  close();
  return blocks;
}

const block = (text, start, end) => ({ start, end, text: text.slice(start, end) });

/** text[start:end] as blocks of at most `longest` characters, cut after sentences, or else after words. */
function cut(text, start, end, longest) {
  const blocks = [];
  while (end - start > longest) {
    const head = text.slice(start, start + longest);
    const sentence = [...head.matchAll(SENTENCE)].at(-1);
    const next = sentence ? sentence.index + sentence[0].length : head.lastIndexOf(" ") + 1 || longest - isHigh(head);
    blocks.push(block(text, start, start + head.slice(0, next).trimEnd().length));
    start += next;
  }
  return [...blocks, block(text, start, end)];
}

/** Whether a text ends within a character of two units. */
const isHigh = (text) => /[\ud800-\udbff]$/.test(text);

/** A run of blocks without gap from the one at `place` on, or else from the first: at most `most` characters, or one. */
export function nextRun(blocks, isMissing, place, most) {
  let first = blocks.findIndex((block) => block.end >= place && isMissing(block));
  if (first < 0) first = blocks.findIndex(isMissing);
  if (first < 0) return [];
  let last = first + 1;
  while (last < blocks.length && isMissing(blocks[last]) && blocks[last].end - blocks[first].start <= most) last++;
  return blocks.slice(first, last);
}
