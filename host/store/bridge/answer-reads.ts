import { asToolError } from "../../values/tool-error.ts";
import type { ReadBridge } from "../definition.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./read-question.ts";

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
      if (value instanceof Promise) void value.then(answerOf, failedAnswer).then(send);
      else send(answerOf(value));
    } catch (error) {
      send(failedAnswer(error));
    }
  });
  port.unref();
}

const answerOf = (value: AnswerValue): ReadAnswer => ({ isOk: true, value });

function failedAnswer(error: unknown): ReadAnswer {
  const { tableCode, message } = asToolError(error, "read the user's files");
  return { isOk: false, code: tableCode, message };
}
