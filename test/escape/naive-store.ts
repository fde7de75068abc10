/**
 * How files are often confined: resolve the path, look whether it begins with the folder, then use the path. The attack
 * that the store withstands must succeed here, or it would prove nothing.
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

  /** A temporary file beside it, then a rename. */
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
