import { receiveMessageOnPort } from "node:worker_threads";

import type { ListedFile } from "../../../shared/abi.ts";
import { isScopePath } from "../../../shared/path.ts";
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type { Handed } from "../handed.ts";
import { decodeText, SeenFiles } from "../reading.ts";
import type { ReadBridge, ScopeSize, StoreReaders, UserReader } from "../store.ts";
import { HandedScopes } from "./handed-scopes.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./read-question.ts";

/**
 * Opens readers in a thread, which waits while the main thread answers. In the main thread they would wait for ever.
 */
export function openBridgedReaders(bridge: ReadBridge): StoreReaders {
  return {
    openUser: (userId, _scopes, known) => new BridgedReader(bridge, userId, known?.handed),
    openShared: (known) => new BridgedReader(bridge, null, known?.handed),
  };
}

class BridgedReader implements UserReader {
  readonly #bridge: ReadBridge;
  readonly #userId: UserId | null;
  readonly #hold: number | null;
  readonly #handed: HandedScopes;
  readonly #seen = new SeenFiles();

  constructor(bridge: ReadBridge, userId: UserId | null, handed?: Handed | null) {
    const files = handed && "hold" in handed ? handed : null;
    this.#bridge = bridge;
    this.#userId = userId;
    this.#hold = files?.hold ?? null;
    this.#handed = new HandedScopes(files ?? { files: [], complete: [] });
  }

  /** The main thread measures faster than it could remember. */
  readonly knownSizes = {};

  get seen(): Seen[] {
    return this.#seen.list();
  }

  read(scope: string, path: string): string | null {
    const bytes = this.#handed.read(scope, path) ?? (this.#isFree(scope, path) ? null : this.#ask("read", scope, path));
    this.#seen.note(scope, path, bytes);
    return bytes === null ? null : decodeText(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#handed.list(scope, prefix) ?? this.#ask("list", scope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#handed.sizeOf(scope, path) ?? (this.#isFree(scope, path) ? null : this.#ask("sizeOf", scope, path));
  }

  scopeSize(scope: string): ScopeSize {
    return this.#handed.scopeSize(scope) ?? this.#ask("scopeSize", scope);
  }

  [Symbol.dispose](): void {
    // It holds nothing open.
  }

  #isFree(scope: string, path: string): boolean {
    return isScopePath(path) && this.#handed.isFree(scope, path);
  }

  /** Sends a question and waits. A thread that is killed here has changed nothing. */
  #ask<Asked extends keyof ReadAnswers>(asked: Asked, scope: string, path = ""): ReadAnswers[Asked] {
    const { port, signal } = this.#bridge;
    const flag = new Int32Array(signal);
    Atomics.store(flag, 0, 0);
    port.postMessage({ asked, hold: this.#hold, userId: this.#userId, scope, path } satisfies ReadQuestion<Asked>);
    // The notice of an earlier answer can come this late: its flag was seen before it.
    while (Atomics.load(flag, 0) === 0) Atomics.wait(flag, 0, 0);
    const answer = receiveMessageOnPort(port)?.message as ReadAnswer | undefined;
    if (answer === undefined) throw new RangeError("The main thread has signalled an answer, but there is none");
    if (!answer.isOk) throw new ToolError(answer.code, answer.message);
    return answer.value as ReadAnswers[Asked];
  }
}
