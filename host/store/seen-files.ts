import type { Seen } from "../values/change-set.ts";
import { digestOf } from "./digest.ts";

/** What a reader has found so far, each file once: as it was at the last look. */
export class SeenFiles {
  readonly #seen = new Map<string, Seen>();

  note(scope: string, path: string, bytes: Uint8Array | null): void {
    this.#seen.set(`${scope}:${path}`, { scope, path, digest: digestOf(bytes) });
  }

  list(): Seen[] {
    return [...this.#seen.values()];
  }
}
