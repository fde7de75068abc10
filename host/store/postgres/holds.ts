import { ToolError } from "../../values/tool-error.ts";
import type { FindAnswer } from "../bridge/answer-reads.ts";
import type { ReadQuestion } from "../bridge/read-question.ts";

/** The holds in which threads can ask, by number. A thread that asks for any other gets nothing. */
export class Holds {
  readonly #finds = new Map<number, FindAnswer>();
  #last = 0;

  /** Until the returned object is disposed of, questions with its number are answered. */
  begin(find: FindAnswer): Disposable & { readonly hold: number } {
    const hold = ++this.#last;
    this.#finds.set(hold, find);
    return { hold, [Symbol.dispose]: () => void this.#finds.delete(hold) };
  }

  answer(question: ReadQuestion): ReturnType<FindAnswer> {
    const find = question.hold === null ? undefined : this.#finds.get(question.hold);
    if (find === undefined) throw new ToolError("CAPABILITY_DENIED", "Cannot read: nothing is held for this call");
    return find(question);
  }
}
