// Where the time of an answer went, as a bar.

import { $, node } from "./dom.js";

const STAGES = {
  prepare: "sentences and pieces", queue: "waiting for others", encoder: "encoder", other: "tags and plan",
  steps: "insertion steps", verify: "verification", suggest: "alternatives and hints", explain: "naming the edits",
};

const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export function drawTime(timing) {
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
  $("formula").textContent = formula(timing);
}

function formula(timing) {
  const steps = timing.steps ? `${timing.steps} insertion steps × ${ms(timing.steps_ms / timing.steps)}` : "no insertion";
  const verify = timing.verify_ms ? ` + verification ${ms(timing.verify_ms)}` : "";
  const model = `Model: encoder ${ms(timing.encoder_ms)} + ${steps} + tags and plan ${ms(timing.other_ms)}${verify}. `;
  const known = timing.cached ? `${timing.cached} of ${timing.sentences} sentences were known already.` : "";
  return (timing.encoder_ms ? model : "") + known;
}
