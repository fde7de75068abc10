import type { ListedFile } from "../../../shared/abi.ts";
import type { HandedFile, HandedFiles } from "../handed.ts";
import { checkBytes, listedIn } from "../listed-files.ts";
import { sizeOfFiles } from "../scope-size.ts";
import type { ScopeSize } from "../scope-size.ts";

/** What a thread can answer itself, from what was handed to it. `undefined`: the main thread has to be asked. */
export class HandedScopes {
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
