import { asToolError } from "../../values/tool-error.ts";
import { checkedStore } from "../reading.ts";
import { entriesScope } from "../shared-stores.ts";
import type { ReadBridge } from "../store.ts";
import type { MemoryUsers } from "./memory-users.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./read-question.ts";
import type { UserFiles } from "./user-files.ts";

/** Answers one thread's questions as long as the thread lives. Does not keep the process alive. */
export function answerReads(users: MemoryUsers, { port, signal }: ReadBridge): void {
  const flag = new Int32Array(signal);
  port.on("message", (question: ReadQuestion) => {
    // If the thread was killed meanwhile, its port is closed and the answer is dropped.
    try {
      port.postMessage(answerTo(users, question));
    } catch (error) {
      // The answer is too large to be sent.
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
  if (userId === null) return valueIn(users.shared.filesOf(checkedStore(scope)), { asked, scope: entriesScope, path });
  return valueIn(users.filesOf(userId), { asked, scope, path });
}

function valueIn(files: UserFiles, { asked, scope, path }: Omit<ReadQuestion, "userId">): ReadAnswers[typeof asked] {
  return asked === "scopeSize" ? files.scopeSize(scope) : files[asked](scope, path);
}
