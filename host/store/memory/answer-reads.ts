import { asToolError } from "../../values/tool-error.ts";
import type { ReadBridge } from "../store.ts";
import type { MemoryUsers } from "./memory-users.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./read-question.ts";

/** Answers what one thread asks, as long as it lives. It keeps no process alive. */
export function answerReads(users: MemoryUsers, { port, signal }: ReadBridge): void {
  const flag = new Int32Array(signal);
  port.on("message", (question: ReadQuestion) => {
    // A thread that was killed meanwhile has closed its end, and nothing arrives there.
    try {
      port.postMessage(answerTo(users, question));
    } catch (error) {
      // What is too large to be sent.
      port.postMessage(failedAnswer(error));
    }
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
  port.unref();
}

function answerTo(users: MemoryUsers, question: ReadQuestion): ReadAnswer {
  try {
    return { isOk: true, value: valueFor(users, question) };
  } catch (error) {
    return failedAnswer(error);
  }
}

function failedAnswer(error: unknown): ReadAnswer {
  const { tableCode, message } = asToolError(error, "read the user's files");
  return { isOk: false, code: tableCode, message };
}

function valueFor(users: MemoryUsers, { asked, userId, scope, path }: ReadQuestion): ReadAnswers[typeof asked] {
  const files = users.filesOf(userId);
  return asked === "bytesUsed" ? files.bytesUsed(scope) : files[asked](scope, path);
}
