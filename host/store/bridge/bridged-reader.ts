/** Files that a thread reads over its bridge: it waits while the main thread answers. In the main thread it would wait for ever. */
import { receiveMessageOnPort } from "node:worker_threads";

import type { ListedFile } from "../../../shared/abi.ts";
import { isScopePath } from "../../../shared/path.ts";
import type { UserId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ReadBridge } from "../definition.ts";
import { UserReader, checkBytes, listedIn, sizeOfFiles } from "../reading.ts";
import type { Handed, HandedFile, HandedFiles, ScopeSize, StoreReaders, ThreadFiles } from "../reading.ts";
import type { ReadAnswer, ReadAnswers, ReadQuestion } from "./answer-reads.ts";

export const openBridgedReaders = (bridge: ReadBridge): StoreReaders => ({
  open: (userId, _scopes, known) => new UserReader(new BridgedFiles(bridge, userId, known?.handed), known),
});

class BridgedFiles implements ThreadFiles {
  readonly #bridge: ReadBridge;
  readonly #userId: UserId | null;
  readonly #handed: HandedFiles | null;
  /** What was handed to the thread, by scope. */
  readonly #scopes: ReadonlyMap<string, ReadonlyMap<string, HandedFile>>;

  constructor(bridge: ReadBridge, userId: UserId | null, handed?: Handed | null) {
    this.#bridge = bridge;
    this.#userId = userId;
    this.#handed = handed && "hold" in handed ? handed : null;
    this.#scopes = scopesOf(this.#handed);
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    return this.#at(scope, path)?.content ?? (this.#isFree(scope, path) ? null : this.#ask("bytesOf", scope, path));
  }

  list(scope: string, prefix: string, filesMax: number): ListedFile[] {
    const all = this.#all(scope);
    return all ? listedIn(all, prefix, filesMax) : this.#ask("list", scope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#at(scope, path)?.bytes ?? (this.#isFree(scope, path) ? null : this.#ask("sizeOf", scope, path));
  }

  /** The main thread measures faster than it could remember. */
  scopeSize(scope: string): ScopeSize {
    const all = this.#all(scope);
    return all ? sizeOfFiles(all) : this.#ask("scopeSize", scope);
  }

  [Symbol.dispose](): void {
    // It holds nothing open.
  }

  #at(scope: string, path: string): HandedFile | undefined {
    const file = this.#scopes.get(scope)?.get(path);
    if (file !== undefined) checkBytes(path, file.bytes);
    return file;
  }

  /** Whether there is surely no file, and none in its way. A place without files near it is what most new entries get. */
  #isFree(scope: string, path: string): boolean {
    const files = this.#complete(scope);
    if (files === undefined || files.has(path) || path.includes("/") || !isScopePath(path)) return false;
    return !Array.from(files.keys()).some((each) => each.startsWith(`${path}/`));
  }

  /** All files of a scope; `undefined` if not all were handed. */
  #complete(scope: string): ReadonlyMap<string, HandedFile> | undefined {
    return this.#handed?.complete.includes(scope) ? this.#scopes.get(scope) : undefined;
  }

  #all(scope: string): ListedFile[] | undefined {
    const files = this.#complete(scope);
    return files && Array.from(files.values(), ({ path, bytes, changedUs }) => ({ path, bytes, changedUs }));
  }

  /** Sends a question and waits. A thread that is killed here has changed nothing. */
  #ask<Asked extends keyof ReadAnswers>(asked: Asked, scope: string, path = ""): ReadAnswers[Asked] {
    const { port, signal } = this.#bridge;
    const flag = new Int32Array(signal);
    Atomics.store(flag, 0, 0);
    const hold = this.#handed?.hold ?? null;
    port.postMessage({ asked, hold, userId: this.#userId, scope, path } satisfies ReadQuestion<Asked>);
    // The notice of an earlier answer can come this late: its flag was seen before it.
    while (Atomics.load(flag, 0) === 0) Atomics.wait(flag, 0, 0);
    const answer = receiveMessageOnPort(port)?.message as ReadAnswer | undefined;
    if (answer === undefined) throw new RangeError("The main thread has signalled an answer, but there is none");
    if (!answer.isOk) throw new ToolError(answer.code, answer.message);
    return answer.value as ReadAnswers[Asked];
  }
}

function scopesOf(handed: HandedFiles | null): Map<string, Map<string, HandedFile>> {
  const scopes = new Map((handed?.complete ?? []).map((scope) => [scope, new Map<string, HandedFile>()]));
  for (const file of handed?.files ?? []) {
    const scope = scopes.get(file.scope) ?? new Map<string, HandedFile>();
    scopes.set(file.scope, scope.set(file.path, file));
  }
  return scopes;
}
