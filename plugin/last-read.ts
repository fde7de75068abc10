/**
 * The text that was read last, with the JSON in which the host sent it. To append is to write what was read and more;
 * then only what is new must become JSON again. Otherwise that takes a sixth of the guest's time with a file of 60 KB.
 */
import type { CapabilityReply } from "../shared/abi.ts";

/** A reply of this form has nothing but the text between the two. A host can send another form of the same JSON. */
const [begin, end] = ['{"ok":true,"content":"', '"}'];

export class LastRead {
  #text = "";
  /** Without quotation marks. */
  #json = "";

  keep(reply: CapabilityReply<"store_read">, json: string): void {
    const isPlain = json.startsWith(begin) && json.endsWith(end) && Object.keys(reply).length === 2;
    if (!isPlain || reply.content === null) return;
    this.#text = reply.content;
    this.#json = json.slice(begin.length, -end.length);
  }

  /** `JSON.stringify` of a text, or another JSON with the same meaning. */
  jsonOf(content: string): string {
    // In the engine, `startsWith` takes ten times as long.
    if (content.slice(0, this.#text.length) !== this.#text) return JSON.stringify(content);
    return `"${this.#json}${JSON.stringify(content.slice(this.#text.length)).slice(1)}`;
  }
}
