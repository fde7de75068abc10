/** Asks a scope's plugin what it makes of files that the host is about to change. Commits nothing. */
import { storeLimits } from "../../shared/limits.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import type { Accepts, CallOptions } from "../call/asked-call.ts";
import { mayChange } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import { digestOf } from "../store/reading.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { movedTo } from "../values/change-set.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { Operation } from "./operation.ts";

/** The host's changes of one scope. */
export interface ScopeChanges {
  readonly scope: string;
  readonly changes: readonly SizedChange[];
  /** The files outside the trash that they change. */
  readonly paths: readonly string[];
  /** Those of which the plugin shall forget all that it knows, such as their place in an index. Default: none. */
  readonly remadePaths?: readonly string[] | undefined;
}

export interface DerivedChanges {
  readonly changes: readonly SizedChange[];
  /** How the files that it changes were then. */
  readonly seen: readonly Seen[];
  /** The files that it cannot use as they would be. Then there are no changes. */
  readonly refused: readonly RefusedPath[];
}

const nothing: DerivedChanges = { changes: [], seen: [], refused: [] };

/** Throws the plugin's failure. */
export async function derivedChanges(operation: Operation, asked: ScopeChanges): Promise<DerivedChanges> {
  const { scope, changes, paths, remadePaths = [] } = asked;
  const inspector = operation.tools.forScope("inspect", scope);
  if (inspector === null || paths.length === 0) return nothing;
  const { refused = [] } = await operation.ask("inspect", inspector, inputOf(asked, false), lookingAt(changes));
  if (refused.length > 0 || !mayChange(inspector.tool.rights)) return { ...nothing, refused };
  const gone = remadePaths.map((path): SizedChange => ({ kind: "remove", scope, path, bytes: 0 }));
  const without = gone.length === 0 ? nothing : await made(operation, inspector, asked, [...changes, ...gone]);
  const last = await made(operation, inspector, asked, [...changes, ...without.changes]);
  return { changes: [...without.changes, ...last.changes], seen: [...without.seen, ...last.seen], refused: [] };
}

const inputOf = ({ paths }: ScopeChanges, mend: boolean): RoleInput<"inspect"> => ({ mend, incoming: [...paths] });

/** What the plugin writes is needed although the scope may be full: the owner is about to make it right. */
function lookingAt(staged: readonly SizedChange[]): Omit<CallOptions, "accepts"> {
  return { stage: async () => staged, freedBytes: storeLimits.scopeBytesMax, mode: "look" };
}

/** What the plugin would write if some changes were made. */
async function made(
  operation: Operation,
  inspector: CatalogTool,
  asked: ScopeChanges,
  staged: readonly SizedChange[],
): Promise<DerivedChanges> {
  const { scope } = asked;
  let found = nothing;
  const accepts: Accepts<RoleOutput<"inspect">> = async (_answer, changes, reader) => {
    const seen: Seen[] = [];
    for (const path of new Set(changes.flatMap((each) => [each.path, movedTo(each) ?? each.path]))) {
      seen.push({ scope, path, digest: digestOf(await reader.bytesOf(scope, path)) });
    }
    // A call names the own store by its id.
    found = { changes: changes.map((change) => ({ ...change, scope })), seen, refused: [] };
    return [];
  };
  await operation.ask("inspect", inspector, inputOf(asked, true), { ...lookingAt(staged), accepts });
  return found;
}
