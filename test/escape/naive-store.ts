/**
 * A common way to confine files: resolve the path, check that it begins with the folder, then use the path. The attack
 * that fails against the store must succeed here, or it would prove nothing.
 */
import { readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

export class NaiveStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = realpathSync(root);
  }

  read(path: string): string {
    const place = join(this.#root, path);
    this.#check(realpathSync(place));
    return readFileSync(place, "utf8");
  }

  /** Writes a temporary file in the same folder, then renames it. */
  write(path: string, content: string): void {
    const place = join(this.#root, path);
    this.#check(realpathSync(dirname(place)));
    const temporary = join(dirname(place), `.${basename(place)}.tmp`);
    writeFileSync(temporary, content);
    renameSync(temporary, place);
  }

  #check(real: string): void {
    if (!real.startsWith(this.#root + sep)) throw new Error("outside");
  }
}
