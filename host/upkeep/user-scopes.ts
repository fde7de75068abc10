import type { HeldReader, HeldUser } from "../store/store.ts";
import type { Operation } from "./operation.ts";

/** A part of a user's scopes while it is held. */
export interface HeldPart {
  readonly held: HeldUser;
  readonly reader: HeldReader;
  /** What lies in it, in the order of names. */
  readonly scopes: readonly string[];
}

/** Does some work on each part of the user's scopes in turn. A scope that has a part of its own is found there alone. */
export async function eachPart<Result>(
  operation: Operation,
  options: { readonly writes: boolean },
  work: (part: HeldPart) => Promise<Result>,
): Promise<Result[]> {
  const parts = await operation.parts();
  const apart = new Set(parts.flat());
  const results: Result[] = [];
  for (const scopes of parts) {
    const result = await operation.hold({ ...options, scopes }, async (held) => {
      const { reader } = held;
      const there = (await reader.scopes()).filter((scope) => scopes.includes(scope) || !apart.has(scope));
      return await work({ held, reader, scopes: there });
    });
    results.push(result);
  }
  return results;
}
