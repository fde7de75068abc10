import { foldedPath } from "../../shared/encoded-name.ts";
import { foldersOf } from "../../shared/path.ts";
import type { HeldHome } from "../store/held-homes.ts";

/** The places of what is in a scope now, and in its trash. */
export async function placesIn(held: Pick<HeldHome, "list" | "listTrash">, scope: string): Promise<FilePlaces> {
  return new FilePlaces([...(await held.list(scope, "")), ...(await held.listTrash(scope))].map(({ path }) => path));
}

/** The places of a scope's files. Ignores case, as some disks do. */
export class FilePlaces {
  /** The files by their own paths, in lower case. */
  readonly #files = new Map<string, string>();
  /** A file in each folder, by the folder's path in lower case. */
  readonly #folders = new Map<string, string>();

  constructor(paths: readonly string[]) {
    for (const path of paths) this.add(path);
  }

  add(path: string): void {
    const folded = foldedPath(path);
    this.#files.set(folded, path);
    for (const folder of foldersOf(folded)) this.#folders.set(folder, path);
  }

  /** The file at a path, with its own name. */
  at(path: string): string | null {
    return this.#files.get(foldedPath(path)) ?? null;
  }

  /** A file at one of a path's folders, or below it: no disk can hold both. */
  nestedWith(path: string): string | null {
    const folded = foldedPath(path);
    const [found] = foldersOf(folded).flatMap((each) => this.#files.get(each) ?? []);
    return found ?? this.#folders.get(folded) ?? null;
  }

  /** A file that is in the way of another: at its path, at one of its folders, or below its path. */
  inTheWayOf(path: string): string | null {
    return this.at(path) ?? this.nestedWith(path);
  }
}
