import { quoted } from "../../shared/text.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { Mode } from "../store/home.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";

/** A part of a user's scopes while it is held. */
export interface HeldPart {
  readonly held: HeldHome;
  /** Its scopes, sorted by name. */
  readonly scopes: readonly string[];
  /** Scopes that lie here, but are found in a part of their own. */
  readonly hidden: readonly string[];
}

/**
 * Runs `work` on each part of the user's scopes in turn, or only on parts with a scope in `only`. A scope with a part
 * of its own is found only there.
 */
export async function eachPart<Result>(
  operation: Operation,
  { mode, only }: { readonly mode: Mode; readonly only?: readonly string[] | undefined },
  work: (part: HeldPart) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const part of operation.parts) {
    if (only && !only.some((scope) => isOf(operation, part, scope))) continue;
    results.push(await operation.hold(mode, part, async (held) => work(await partOf(operation, part, held))));
  }
  return results;
}

/** One part of `operation.parts` that is held. */
export async function partOf(operation: Operation, part: readonly string[], held: HeldHome): Promise<HeldPart> {
  const all = await held.scopes();
  const [scopes = [], hidden = []] = [true, false].map((isHere) =>
    all.filter((each) => isOf(operation, part, each) === isHere),
  );
  return { held, scopes, hidden };
}

const isOf = ({ parts }: Operation, part: readonly string[], scope: string): boolean =>
  part.length === 0 ? !parts.flat().includes(scope) : part.includes(scope);

/** Throws `INPUT_INVALID` for an unknown scope, so that a misspelt one is not silently skipped. */
export function checkScopes(action: string, scopes: readonly string[] = [], known: readonly string[]): void {
  const unknown = scopes.find((scope) => !known.includes(scope));
  if (unknown === undefined) return;
  const allowed = [...new Set(known)].toSorted().join(", ") || "none";
  throw new ToolError("INPUT_INVALID", `Cannot ${action} the memory: scope is ${quoted(unknown)}, allowed: ${allowed}`);
}
