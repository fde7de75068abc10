/** What a call has read, so that what it commits is not made from something that is no longer there. */
import { hash } from "node:crypto";

import type { Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";

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

/** What tells one content of a file from another: SHA-256 in hexadecimal digits; `null` for a file that is not there. */
export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
}

/** Someone has changed the user's files since the call read them. The call is made again before this is reported. */
export class StaleCall extends ToolError {
  constructor() {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran");
  }
}

/** How often a call is made again when someone edits its files at the same time. */
const attemptsMax = 3;

/** Does a call's work again when it was stale. */
export async function untilFresh<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleCall) || attempt === attemptsMax) throw error;
    }
  }
}

/** A file as it was just before a commit. */
type FileBefore = Omit<Seen, "digest"> & { readonly before: string | null };

/** A file that someone has changed since the guest read it: its answer is not worth anything any more. */
export function refuseStale(planned: readonly FileBefore[], seen: readonly Seen[]): void {
  const befores = new Map(planned.map(({ scope, path, before }) => [`${scope}:${path}`, before]));
  for (const { scope, path, digest } of seen) {
    const before = befores.get(`${scope}:${path}`);
    if (before !== undefined && before !== digest) throw new StaleCall();
  }
}
