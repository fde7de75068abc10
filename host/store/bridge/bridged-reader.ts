import { receiveMessageOnPort } from "node:worker_threads";

import type { ListedFile } from "../../../shared/abi.ts";
import { isScopePath } from "../../../shared/path.ts";
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type { ReadBridge } from "../definition.ts";
import type { Handed, HandedFile, HandedFiles } from "../handed.ts";
import { checkBytes, listedIn } from "../listed-files.ts";
import type { StoreReaders, UserReader } from "../readers.ts";
import { decodeText, SeenFiles } from "../reading.ts";
import type { ScopeSize } from "../scope-size.ts";
import { sizeOfFiles } from "../scope-size.ts";
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

/** What a thread can answer itself, from what was handed to it. `undefined`: the main thread has to be asked. */
class HandedScopes {
  readonly #scopes: ReadonlyMap<string, ReadonlyMap<string, HandedFile>>;
  readonly #complete: ReadonlySet<string>;

  constructor({ files, complete }: Pick<HandedFiles, "files" | "complete">) {
    const scopes = new Map(complete.map((scope) => [scope, new Map<string, HandedFile>()]));
    for (const file of files) {
      const scope = scopes.get(file.scope) ?? new Map<string, HandedFile>();
      scopes.set(file.scope, scope.set(file.path, file));
    }
    this.#scopes = scopes;
    this.#complete = new Set(complete);
  }

  read(scope: string, path: string): Uint8Array | undefined {
    const file = this.#scopes.get(scope)?.get(path);
    if (file === undefined) return undefined;
    checkBytes(path, file.bytes);
    return file.content ?? undefined;
  }

  list(scope: string, prefix: string): ListedFile[] | undefined {
    const all = this.#all(scope);
    return all && listedIn(all, prefix);
  }

  scopeSize(scope: string): ScopeSize | undefined {
    const all = this.#all(scope);
    return all && sizeOfFiles(all);
  }

  sizeOf(scope: string, path: string): number | undefined {
    const file = this.#scopes.get(scope)?.get(path);
    if (file !== undefined) checkBytes(path, file.bytes);
    return file?.bytes;
  }

  /** Whether there is surely no file, and none in its way. A place without files near it is what most new entries get. */
  isFree(scope: string, path: string): boolean {
    if (!this.#complete.has(scope) || path.includes("/")) return false;
    const files = this.#scopes.get(scope);
    return (
      files !== undefined && !files.has(path) && !Array.from(files.keys()).some((each) => each.startsWith(`${path}/`))
    );
  }

  #all(scope: string): ListedFile[] | undefined {
    const files = this.#complete.has(scope) ? this.#scopes.get(scope) : undefined;
    return files && Array.from(files.values(), ({ path, bytes, changedUs }) => ({ path, bytes, changedUs }));
  }
}
