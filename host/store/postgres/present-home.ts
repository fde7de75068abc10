import { checkBytes, unsafe } from "../listed-files.ts";
import type { PresentFiles } from "../plan-changes.ts";
import { checkFree } from "./held-home.ts";
import type { HeldHome } from "./held-home.ts";
import { isKnownFile, notAsRecorded } from "./known-file.ts";
import type { KnownFile } from "./known-file.ts";

type Stamp = NonNullable<ReturnType<PresentFiles["stampOf"]>>;

/** The files of a home that were found before, for a plan. A file's stamp is its hash. */
export class PresentHome implements PresentFiles {
  readonly #home: HeldHome;

  constructor(home: HeldHome) {
    this.#home = home;
  }

  readStamped(scope: string, path: string): { readonly content: Buffer; readonly stamp: Stamp } | null {
    const file = this.#at(scope, path);
    if (file === null) return null;
    if (file.content === null) throw unsafe(file.path, notAsRecorded);
    return { content: file.content, stamp: stampOf(file) };
  }

  stampOf(scope: string, path: string): Stamp | null {
    const file = this.#at(scope, path);
    return file && stampOf(file);
  }

  refuseTwin(): void {
    // Names that differ by case are different names.
  }

  nameOf(_scope: string, path: string): string {
    return path;
  }

  #at(scope: string, path: string): KnownFile | null {
    const found = this.#home.at({ scope, path });
    if (found === undefined) throw new RangeError("A plan needs a place that was not looked at");
    if (!isKnownFile(found)) return checkFree(found);
    checkBytes(path, found.bytes);
    return found;
  }
}

const stampOf = ({ sha256, bytes }: KnownFile): Stamp => ({ text: sha256, bytes });
