/** Finds and mends: the store what concerns any file, and each plugin what its own files say. */
import type { AnyErrorCode } from "../../shared/errors.ts";
import type { InspectOutput } from "../../shared/roles.ts";
import { mayChange } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { StoreFinding } from "../store/store.ts";
import type { ToolError } from "../values/tool-error.ts";
import { asToolError } from "../values/tool-error.ts";
import type { Finding } from "./finding.ts";
import type { Operation } from "./operation.ts";

export async function inspectUser(operation: Operation): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const scopes of await operation.parts()) {
    const options = { scopes, writes: false, isLookingOnly: true };
    found.push(...(await operation.hold(options, async (held) => (await held.findings()).map(ofStore))));
  }
  for (const inspector of operation.tools.withRole("inspect")) found.push(...(await look(operation, inspector)));
  return found;
}

/** Returns what has been put right. */
export async function mendUser(operation: Operation): Promise<Finding[]> {
  // Looked at before anything is held for writing, which by itself finishes what a crash has left.
  const before = await inspectUser(operation);
  if (before.every(({ remedy }) => remedy === null)) return [];
  await mendAll(operation);
  // What was put right is told, also to who has cancelled meanwhile.
  return mendedOf(before, await inspectUser(operation.uncancelled()));
}

/** What could be mended, and is not found any more. */
export function mendedOf(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const left = new Set(after.map(keyOf));
  return before.filter((finding) => finding.remedy !== null && !left.has(keyOf(finding)));
}

/** What a plugin has found in its scope; `scope` stands before the paths. */
export function findingsIn({ findings, findingsHidden }: InspectOutput, scope: string): Finding[] {
  const shown = findings.map(({ problem, path, message, remedy }) => ({
    problem,
    path: path === "" ? scope : `${scope}/${path}`,
    message,
    remedy,
  }));
  if (findingsHidden === 0) return shown;
  const remedy = shown.some((each) => each.remedy !== null) ? "mend the others first" : null;
  return [...shown, notInspected(scope, `${findingsHidden} more findings are not shown`, remedy)];
}

/** The scope of a tool whose role is about exactly one. */
export const scopeOf = ({ tool }: CatalogTool): string => tool.scopes[0] ?? "";

/** A guest that cannot look, or answers with something else, is a finding itself, beside all others. */
async function look(operation: Operation, inspector: CatalogTool): Promise<Finding[]> {
  try {
    const told = await operation.ask("inspect", inspector, { mend: false }, { isLookingOnly: true });
    return findingsIn(told, scopeOf(inspector));
  } catch (error) {
    const { code, message } = asToolError(error, action);
    if (notInspecting.has(code)) throw error;
    return [notInspected(scopeOf(inspector), message, null)];
  }
}

const action = "look after a user's files";

/** These say nothing of the files, and a later inspection may. */
const notInspecting: ReadonlySet<AnyErrorCode> = new Set(["CANCELLED", "BUSY", "CLOSED"]);

const notInspected = (path: string, message: string, remedy: string | null): Finding => ({
  problem: "not-inspected",
  path,
  message,
  remedy,
});

/**
 * A hold for writing finishes what a crash has left, and a thorough one all else that the store can mend. One plugin that
 * fails keeps what others can mend from nobody.
 */
async function mendAll(operation: Operation): Promise<void> {
  const failures: ToolError[] = [];
  for (const inspector of mendersIn(operation)) {
    const mending = operation.ask("inspect", inspector, { mend: true }, { isThorough: true });
    await mending.catch((error: unknown) => void failures.push(asToolError(error, action)));
  }
  for (const scopes of await unheldParts(operation)) {
    await operation.hold({ scopes, writes: true, isThorough: true }, async () => {});
  }
  const [first] = failures;
  if (first !== undefined) throw first;
}

/** The inspectors that may change files: one that only looks mends nothing, and holds nothing for writing. */
function mendersIn({ tools }: Operation): CatalogTool[] {
  return tools.withRole("inspect").filter(mayChange);
}

/** The parts that no mender holds. */
async function unheldParts(operation: Operation): Promise<(readonly string[])[]> {
  const parts = await operation.parts();
  const mended = mendersIn(operation).map(scopeOf);
  const isNamed = (scope: string): boolean => parts.some((scopes) => scopes.includes(scope));
  return parts.filter((scopes) =>
    scopes.length === 0 ? mended.every(isNamed) : !mended.some((scope) => scopes.includes(scope)),
  );
}

const ofStore = ({ code: problem, path, message, remedy }: StoreFinding): Finding => ({
  problem,
  path,
  message,
  remedy,
});

const keyOf = ({ problem, path, message }: Finding): string => `${problem} ${path} ${message}`;
