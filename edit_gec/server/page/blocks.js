// Text -> blocks that are checked on their own: paragraphs, with what stands between two fences in one piece.

const FENCE = /^ {0,3}(```|~~~)/;

/** Blocks { start, end, text } in order; blank lines between them belong to none. */
export function splitBlocks(text) {
  const blocks = [];
  let start = -1, end = 0, at = 0, fence = "";
  for (const line of text.split("\n")) {
    if (fence || line.trim()) {
      if (start < 0) start = at;
      end = at + line.length;
      const mark = FENCE.exec(line)?.[1] ?? "";
      if (mark && (!fence || fence === mark)) fence = fence ? "" : mark;
    } else if (start >= 0) {
      blocks.push({ start, end, text: text.slice(start, end) });
      start = -1;
    }
    at += line.length + 1;
  }
  if (start >= 0) blocks.push({ start, end, text: text.slice(start, end) });
  return blocks;
}

/** A run of blocks without gap from the one at `place` on, or else from the first: at most `most` characters, or one. */
export function nextRun(blocks, isMissing, place, most) {
  let first = blocks.findIndex((block) => block.end >= place && isMissing(block));
  if (first < 0) first = blocks.findIndex(isMissing);
  if (first < 0) return [];
  let last = first + 1;
  while (last < blocks.length && isMissing(blocks[last]) && blocks[last].end - blocks[first].start <= most) last++;
  return blocks.slice(first, last);
}
