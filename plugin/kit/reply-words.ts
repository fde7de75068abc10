/** The words of a file, from those that the engine finds in the host's reply. */
const around = ["ok", "true", "content"];

export class ReplyWords {
  #beginnings = "";
  /** What the reply has before the text: the same for each file of a search. */
  #frame = "";

  /**
   * `null` if there are none. `undefined` if the reply is not of the form that this knows: a host can send another form
   * of the same JSON.
   */
  ofFile(words: string, beginnings: string): string | null | undefined {
    if (beginnings !== this.#beginnings) {
      const all = beginnings.split(" ").slice(0, -1);
      this.#frame = around.map((word) => (all.some((each) => word.startsWith(each)) ? `${word} ` : "")).join("");
      this.#beginnings = beginnings;
    }
    if (words.slice(0, this.#frame.length) !== this.#frame) return undefined;
    const ofText = words.slice(this.#frame.length);
    return ofText === "" || ofText === "\n" ? null : ofText;
  }
}
