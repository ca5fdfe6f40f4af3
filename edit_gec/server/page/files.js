// Texts in and out: opened, dropped, downloaded, copied.

import { node } from "./dom.js";

const MOST = 2_000_000; // bytes of a file

/** The text of a file. Throws an Error that says what is wrong with it. */
export async function readText(file) {
  if (file.size > MOST) throw new Error(`${file.name} is larger than ${MOST / 1_000_000} MB.`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not text in UTF-8.`);
  }
  if (text.includes("\0")) throw new Error(`${file.name} is not a text.`);
  return text.replace(/\r\n?/g, "\n");
}

/** Let files be dropped on an element. */
export function acceptDrops(place, take) {
  place.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.items].some((item) => item.kind === "file")) return;
    event.preventDefault();
    place.classList.add("drop");
  });
  place.addEventListener("dragleave", () => place.classList.remove("drop"));
  place.addEventListener("drop", (event) => {
    place.classList.remove("drop");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
}

export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  node("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Whether the text is on the clipboard now. */
export async function copy(text, area) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // not allowed, or not over https
    area.select();
    return document.execCommand("copy");
  }
}
