// Harper as a line corrector: node harper.mjs IN OUT. The first suggestion of every lint is applied;
// where two overlap, the one that starts first.
// Setup: npm install harper.js@2.10.0 in the folder of this file.
import { readFileSync, writeFileSync } from "node:fs";
import { Dialect, LocalLinter, SuggestionKind } from "harper.js";
import { binary } from "harper.js/binary";

const [given, wanted] = process.argv.slice(2);
const linter = new LocalLinter({ binary, dialect: Dialect.American });
const lines = readFileSync(given, "utf8").replace(/\n$/, "").split("\n");
const out = [];
for (const line of lines) {
  const lints = (await linter.lint(line, { language: "plaintext" }))
    .filter((lint) => lint.suggestion_count() > 0)
    .map((lint) => ({ start: lint.span().start, end: lint.span().end, fix: lint.suggestions()[0] }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  let text = "", at = 0;
  for (const { start, end, fix } of lints) {
    if (start < at) continue; // overlaps one that was applied
    const old = line.slice(start, end);
    const kind = fix.kind(), extra = fix.get_replacement_text();
    const changed = kind === SuggestionKind.Remove ? "" : kind === SuggestionKind.InsertAfter ? old + extra : extra;
    text += line.slice(at, start) + changed;
    at = end;
  }
  out.push((text + line.slice(at)).replaceAll("\n", " "));
}
writeFileSync(wanted, out.map((line) => line + "\n").join(""));
