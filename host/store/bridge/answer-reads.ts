/** What crosses the bridge between a reading thread and the main thread: one question, then its answer. */
import type { ListedFile } from "../../../shared/abi.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import type { UserId } from "../../values/ids.ts";
import { asToolError } from "../../values/tool-error.ts";
import type { ReadBridge } from "../definition.ts";
import type { ScopeSize } from "../reading.ts";

/** What can be asked, and the value of the answer. */
export interface ReadAnswers {
  bytesOf: Uint8Array | null;
  list: ListedFile[];
  sizeOf: number | null;
  scopeSize: ScopeSize;
}

export interface ReadQuestion<Asked extends keyof ReadAnswers = keyof ReadAnswers> {
  readonly asked: Asked;
  /** The hold in which the question is asked; `null` if the store needs none. */
  readonly hold: number | null;
  /** `null` if a shared store is asked for, which the scope names. */
  readonly userId: UserId | null;
  readonly scope: string;
  /** A path, the prefix of a listing, or empty. */
  readonly path: string;
}

/** An error loses its class on the way, so the reader creates it again. */
export type ReadAnswer =
  | { readonly isOk: true; readonly value: ReadAnswers[keyof ReadAnswers] }
  | { readonly isOk: false; readonly code: ErrorCode; readonly message: string };

/** Finds what a question asks for. Throws a `ToolError` for what cannot be read. */
export type FindAnswer = (question: ReadQuestion) => AnswerValue | Promise<AnswerValue>;

type AnswerValue = ReadAnswers[keyof ReadAnswers];

/** Answers one thread's questions as long as the thread lives. Does not keep the process alive. */
export function answerReads(find: FindAnswer, { port, signal }: ReadBridge): void {
  const flag = new Int32Array(signal);
  const send = (answer: ReadAnswer): void => {
    // If the thread was killed meanwhile, its port is closed and the answer is dropped.
    try {
      port.postMessage(answer);
    } catch (error) {
      // The answer is too large to be sent.
      port.postMessage(failedAnswer(error));
    }
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  port.on("message", (question: ReadQuestion) => {
    try {
      const value = find(question);
      if (value instanceof Promise) void value.then(answerOf).catch(failedAnswer).then(send);
      else send(answerOf(value));
    } catch (error) {
      send(failedAnswer(error));
    }
  });
  port.unref();
}

/** Bytes are copied out of Node's shared pool of buffers, so that no other content is sent along with them. */
const answerOf = (value: AnswerValue): ReadAnswer => ({
  isOk: true,
  value: value instanceof Uint8Array ? new Uint8Array(value) : value,
});

function failedAnswer(error: unknown): ReadAnswer {
  const { tableCode, message } = asToolError(error, "read the user's files");
  return { isOk: false, code: tableCode, message };
}
