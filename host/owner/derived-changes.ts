/** Asks a scope's plugin what it makes of files that the host is about to change. Commits nothing. */
import { callLimits, storeLimits } from "../../shared/limits.ts";
import type { InspectFinding, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import type { Accepts } from "../call/asked-call.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { movedTo } from "../values/change-set.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";
import { withMade } from "./plan.ts";
import type { MadeChanges } from "./plan.ts";

/** The host's changes of one scope. */
export interface ScopeChanges {
  readonly scope: string;
  readonly changes: readonly SizedChange[];
  /** The files outside the trash that the plugin judges. */
  readonly paths: readonly string[];
  /** Those of which the plugin shall forget all that it knows, such as their place in an index. Default: none. */
  readonly remadePaths?: readonly string[] | undefined;
  /**
   * So many bytes more can the plugin write than its scope has room for. Default: as many as a scope holds, which may be full:
   * the owner is about to make it right.
   */
  readonly freedBytes?: number;
}

export interface DerivedChanges extends MadeChanges {
  /** The files that it cannot use as they would be. Then there are no changes. */
  readonly refused: readonly RefusedPath[];
  /** What else it mends. */
  readonly mended: readonly InspectFinding[];
}

/** Throws `TOOL_UNKNOWN` if no loaded plugin has the scope. */
export function checkHasScope({ tools }: Operation, scope: string, refusal: string): void {
  if (tools.hasScope(scope)) return;
  const hint = tools.notLoaded.hintForScope(scope);
  throw new ToolError("TOOL_UNKNOWN", `${refusal}: no loaded plugin has the scope "${scope}"`, { hint });
}

/** Throws the plugin's failure. */
export async function derivedChanges(operation: Operation, asked: ScopeChanges): Promise<DerivedChanges> {
  const { scope, changes, paths, remadePaths = [], freedBytes = storeLimits.scopeBytesMax } = asked;
  const inspector = operation.tools.forScope("inspect", scope);
  const nothing = { changes: [], seen: [] };
  if (inspector === null) return { ...nothing, refused: [], mended: [] };
  let made: MadeChanges = nothing;
  const accepts: Accepts<InspectOutput> = async (_answer, own, reader) => {
    made = { changes: await noted(reader, scope, own), seen: reader.seen };
    return [];
  };
  const ask = (mend: boolean, incoming: readonly string[], staged = changes): Promise<InspectOutput> => {
    const options = { staged, accepts, freedBytes, mode: "look" } as const;
    return operation.ask("inspect", inspector, { mend, incoming: [...incoming] }, options);
  };
  const questions = inQuestions(paths);
  const { refused, mended } = await judged(questions, (incoming) => ask(false, incoming));
  if (refused.length > 0) return { ...nothing, refused, mended: [] };
  // One question is enough to make all of it anew.
  const [first = []] = questions;
  const gone = remadePaths.map((path): SizedChange => ({ kind: "remove", scope, path, bytes: 0 }));
  if (gone.length > 0) await ask(true, first, [...changes, ...gone]);
  const without = made;
  const late = await ask(true, first, [...changes, ...without.changes]);
  if (late.refused && late.refused.length > 0) return { ...nothing, refused: late.refused, mended: [] };
  return { ...withMade(without, made), refused: [], mended };
}

/** What a plugin says of files, in as many questions as needed. */
async function judged(
  questions: readonly (readonly string[])[],
  ask: (incoming: readonly string[]) => Promise<InspectOutput>,
): Promise<Pick<DerivedChanges, "refused" | "mended">> {
  const [refused, mended]: [RefusedPath[], InspectFinding[]] = [[], []];
  for (const incoming of questions) {
    const told = await ask(incoming);
    refused.push(...(told.refused ?? []));
    // To the plugin, files of another question are files that were there.
    const elsewhere = new Set(questions.filter((each) => each !== incoming).flat());
    mended.push(...told.findings.filter(({ path, remedy }) => remedy !== null && !elsewhere.has(path)));
  }
  return { refused: distinct(refused), mended: distinct(mended) };
}

/** What a plugin would change, in `scope`. Notes how the files are that it would change. */
export async function noted(
  reader: HeldHome,
  scope: string,
  changes: readonly SizedChange[],
): Promise<readonly SizedChange[]> {
  for (const change of changes) {
    for (const path of [change.path, movedTo(change) ?? change.path]) await reader.bytesOf(scope, path);
  }
  // A call names the own store by its id.
  return changes.map((change) => ({ ...change, scope }));
}

/** The bytes of one input that paths can take, beside the rest of it. */
const incomingBytesMax = callLimits.inputBytesMax - 100;

/** Splits paths into questions. At least one: a plugin is also asked if no file is live. */
function inQuestions(paths: readonly string[]): readonly (readonly string[])[] {
  const questions: string[][] = [[]];
  let bytes = 0;
  for (const path of paths) {
    // Paths are ASCII that JSON does not escape; 3 for quotation marks and a comma.
    bytes += path.length + 3;
    if (bytes > incomingBytesMax) {
      questions.push([]);
      bytes = path.length + 3;
    }
    questions.at(-1)?.push(path);
  }
  return questions;
}

const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];
