// The writer's own words: kept by the engine where it keeps words, else in this browser. What the browser kept before
// still counts.

const fold = (word) => word.toLowerCase().replaceAll("’", "'");

export class Words {
  constructor(engine, memory) {
    Object.assign(this, { engine, memory });
    this.isShared = false; // the engine keeps them
    this.shared = [];
    this.folded = new Set();
    this.#fold();
  }

  /** Take over the engine's words, where it keeps any. */
  async open(isShared) {
    this.isShared = isShared;
    this.shared = isShared ? await this.engine.words() : [];
    this.#fold();
  }

  /** Every word, those of the browser last. */
  get all() {
    return [...new Set([...this.shared, ...this.memory.words])];
  }

  has(word) {
    return this.folded.has(fold(word));
  }

  async add(word) {
    if (this.isShared) {
      await this.engine.addWord(word);
      this.shared = await this.engine.words();
    } else this.memory.addWord(word);
    this.#fold();
  }

  async remove(word) {
    if (this.shared.includes(word)) {
      await this.engine.removeWord(word);
      this.shared = await this.engine.words();
    }
    this.memory.remove("words", word);
    this.#fold();
  }

  #fold() {
    this.folded = new Set(this.all.map(fold));
  }
}
