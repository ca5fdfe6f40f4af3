// What the browser keeps: words, ignored corrections and settings in localStorage; the text, and what was dismissed in
// it, in this tab's sessionStorage. A browser that keeps nothing is no error.

const PREFIX = "edit-gec.";

function read(storage, name, otherwise) {
  try {
    return JSON.parse(storage.getItem(PREFIX + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(storage, name, value) {
  try {
    storage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // full, or not allowed: the page works without
  }
}

const pair = (edit) => `${edit.original} → ${edit.replacement}`;

export class Memory {
  constructor() {
    this.words = new Set(read(localStorage, "words", []));
    this.ignored = new Set(read(localStorage, "ignored", []));
    this.settings = read(localStorage, "settings", {});
    this.text = read(sessionStorage, "text", "");
    this.dismissed = new Set(read(sessionStorage, "dismissed", [])); // keys of edits
  }

  /** Whether the writer never wants to see the edit again. */
  ignores(edit) {
    return this.ignored.has(pair(edit));
  }

  addWord(word) {
    this.words.add(word);
    write(localStorage, "words", [...this.words]);
  }

  dismiss(key) {
    this.dismissed.add(key);
    write(sessionStorage, "dismissed", [...this.dismissed]);
  }

  ignore(edit) {
    this.ignored.add(pair(edit));
    write(localStorage, "ignored", [...this.ignored]);
  }

  /** Take an entry out of `words` or `ignored`. */
  remove(list, entry) {
    this[list].delete(entry);
    write(localStorage, list, [...this[list]]);
  }

  set(name, value) {
    this.settings[name] = value;
    write(localStorage, "settings", this.settings);
  }

  keepText(text) {
    this.text = text;
    write(sessionStorage, "text", text);
  }

  forget() {
    for (const name of ["words", "ignored", "settings"]) localStorage.removeItem(PREFIX + name);
    for (const name of ["text", "dismissed"]) sessionStorage.removeItem(PREFIX + name);
    for (const kept of [this.words, this.ignored, this.dismissed]) kept.clear();
    this.settings = {};
    this.text = "";
  }
}
