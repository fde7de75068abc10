/** The thread that examines texts, one message for each: a text comes in, whether it holds a credential goes back. */
import { parentPort } from "node:worker_threads";

import { holdsCredential } from "./credential-rules.ts";

parentPort?.on("message", (text: string) => {
  // A failure ends the thread, and the main thread gets it.
  void holdsCredential(text).then((answer) => parentPort?.postMessage(answer, []));
});
