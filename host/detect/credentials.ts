/** Finds credentials in texts, in a thread of its own (`RATIONALE.md`, "Why a thread of its own for the rules?"). */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import type { WriteHook } from "../gate/write-hook.ts";
import { checkFields } from "../values/known-fields.ts";

export interface CredentialDetectorOptions {
  /**
   * How long a text is examined, in milliseconds. For the first text this includes the thread's start. Default: 5,000.
   * The slowest text known, 2 MiB of `https://a`, takes under a second.
   */
  readonly deadlineMs?: number;
}

/**
 * Finds API keys and access tokens of well-known services, private keys in PEM, and passwords in URLs and connection
 * strings; also in JSON, and in the name of an entry.
 *
 * It catches what somebody stores without a thought. It does not find every credential: not a password in a sentence,
 * not the token of an unknown service, nothing that is encoded or cut into parts.
 *
 * The thread, and in it the library, starts with the first text. It does not keep the process alive.
 *
 * @example
 * const detector = new CredentialDetector();
 * await detector.findsCredentials("Reads the Japan Times"); // false
 * await detector.close();
 */
export class CredentialDetector {
  readonly #deadlineMs: number;
  #thread: Worker | null = null;
  /** Resolves when the texts so far have been examined: the thread examines one at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  /** Throws a `TypeError` or `RangeError` for invalid options. */
  constructor(options: CredentialDetectorOptions = {}) {
    checkFields("CredentialDetector", options, { deadlineMs: true });
    const { deadlineMs = 5_000 } = options;
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Resolves to whether a text holds a credential; to `true`, too, if that is not known at the deadline. Rejects if the
   * thread fails. The next text gets a new thread in both cases.
   */
  findsCredentials(text: string): Promise<boolean> {
    const answer = this.#turn.then(() => this.#examine(text));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  /**
   * A hook for `createRuntime`: a write with a credential in one of its texts waits for the owner of the memory.
   *
   * @example
   * const detector = new CredentialDetector();
   * const runtime = await createRuntime({ dataDir: "data", onWrite: detector.onWrite });
   * await runtime.close();
   * await detector.close();
   */
  readonly onWrite: WriteHook = async ({ files }) => {
    for (const { path, text } of files) {
      // A name can be a token as well.
      if (text !== null && (await this.findsCredentials(`${path}\n${text}`))) return "raise";
    }
    return "ok";
  };

  /** Waits for the texts so far, then ends the thread. */
  close(): Promise<void> {
    const ended = this.#turn.then(() => this.#end());
    this.#turn = ended;
    return ended;
  }

  async #examine(text: string): Promise<boolean> {
    const thread = (this.#thread ??= startThread());
    const deadline = AbortSignal.timeout(this.#deadlineMs);
    thread.ref();
    try {
      thread.postMessage(text, []);
      const [answer] = (await once(thread, "message", { signal: deadline })) as [boolean];
      return answer;
    } catch (error) {
      await this.#end();
      if (deadline.aborted) return true;
      throw error;
    } finally {
      thread.unref();
    }
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }
}

function startThread(): Worker {
  const thread = new Worker(fileURLToPath(import.meta.resolve("#credential-thread")));
  // A thread that fails between two texts would otherwise end the process. Its next text runs into the deadline.
  thread.on("error", () => {});
  return thread;
}
