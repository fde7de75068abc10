/** Finds credentials in texts, in a thread of its own (`RATIONALE.md`, "Why a thread of its own for the rules?"). */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { WriteHook } from "../values/asked-program.ts";
import { checkFields } from "../values/known-fields.ts";
import { packageFile } from "../values/package-file.ts";

export interface CredentialDetectorOptions {
  /**
   * How long a text is examined, in milliseconds. For the first text this includes the thread's start. Default: 5,000.
   * The slowest text known, 2 MiB of `https://a`, takes under a second.
   */
  readonly deadlineMs?: number;
}

/** Whether a text holds a credential. `unknown`: at the deadline, nobody knows. */
type Found = "yes" | "no" | "unknown";

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
   * thread cannot start, fails or ends. The next text gets a new thread in all these cases.
   */
  async findsCredentials(text: string): Promise<boolean> {
    return (await this.#inTurn(text)) !== "no";
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
      const found = text === null ? "no" : await this.#inTurn(`${path}\n${text}`);
      // The write waits, and the operator is told why.
      if (found === "unknown") throw new Error(`A text was not examined in ${this.#deadlineMs} ms`);
      if (found === "yes") return "raise";
    }
    return "ok";
  };

  /** Waits for the texts so far, then ends the thread. */
  close(): Promise<void> {
    const ended = this.#turn.then(() => this.#end());
    this.#turn = ended;
    return ended;
  }

  #inTurn(text: string): Promise<Found> {
    const found = this.#turn.then(() => this.#examine(text));
    this.#turn = found.catch(() => {});
    return found;
  }

  async #examine(text: string): Promise<Found> {
    const over = new AbortController();
    // Keeps the process alive, as the timer of `AbortSignal.timeout` would not.
    const deadline = setTimeout(() => over.abort(tooLate), this.#deadlineMs);
    const exited = (code: number): void => over.abort(new Error(`The thread has ended with code ${code}`));
    let thread: Worker | null = null;
    try {
      thread = this.#thread ??= this.#start();
      thread.once("exit", exited);
      thread.postMessage(text, []);
      const [answer] = (await once(thread, "message", { signal: over.signal })) as [boolean];
      return answer ? "yes" : "no";
    } catch (error) {
      thread?.off("exit", exited);
      await this.#end();
      if (over.signal.reason === tooLate) return "unknown";
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      clearTimeout(deadline);
      thread?.off("exit", exited);
    }
  }

  /** Throws if the system gives the process no more threads. */
  #start(): Worker {
    const thread = new Worker(packageFile("dist/host/detect/credential-thread.js"));
    // Also when it fails between two texts: an error would otherwise end the process.
    thread.on("error", () => {});
    thread.once("exit", () => {
      if (this.#thread === thread) this.#thread = null;
    });
    thread.unref();
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }
}

const tooLate = Symbol("too late");
