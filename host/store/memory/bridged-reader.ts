import { receiveMessageOnPort } from "node:worker_threads";

import type { ListedFile } from "../../../shared/abi.ts";
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { decodeText, SeenFiles } from "../reading.ts";
import type { ReadBridge, ScopeSize, StoreReaders, UserReader } from "../store.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./read-question.ts";

/**
 * Opens readers in a thread, which waits while the main thread answers. In the main thread they would wait for ever.
 */
export function openBridgedReaders(bridge: ReadBridge): StoreReaders {
  return {
    openUser: (userId) => new BridgedReader(bridge, userId),
    openShared: () => new BridgedReader(bridge, null),
  };
}

class BridgedReader implements UserReader {
  readonly #bridge: ReadBridge;
  readonly #userId: UserId | null;
  readonly #seen = new SeenFiles();

  constructor(bridge: ReadBridge, userId: UserId | null) {
    this.#bridge = bridge;
    this.#userId = userId;
  }

  /** The main thread measures faster than it could remember. */
  readonly knownSizes = {};

  get seen(): Seen[] {
    return this.#seen.list();
  }

  read(scope: string, path: string): string | null {
    const bytes = this.#ask("read", scope, path);
    this.#seen.note(scope, path, bytes);
    return bytes === null ? null : decodeText(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#ask("list", scope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#ask("sizeOf", scope, path);
  }

  scopeSize(scope: string): ScopeSize {
    return this.#ask("scopeSize", scope);
  }

  [Symbol.dispose](): void {
    // It holds nothing open.
  }

  /** Sends a question and waits. A thread that is killed here has changed nothing. */
  #ask<Asked extends keyof ReadAnswers>(asked: Asked, scope: string, path = ""): ReadAnswers[Asked] {
    const { port, signal } = this.#bridge;
    const flag = new Int32Array(signal);
    Atomics.store(flag, 0, 0);
    port.postMessage({ asked, userId: this.#userId, scope, path } satisfies ReadQuestion<Asked>);
    // The notice of an earlier answer can come this late: its flag was seen before it.
    while (Atomics.load(flag, 0) === 0) Atomics.wait(flag, 0, 0);
    const answer = receiveMessageOnPort(port)?.message as ReadAnswer | undefined;
    if (answer === undefined) throw new RangeError("The main thread has signalled an answer, but there is none");
    if (!answer.isOk) throw new ToolError(answer.code, answer.message);
    return answer.value as ReadAnswers[Asked];
  }
}
