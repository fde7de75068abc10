/** Finds and mends problems: the store in files of any kind, and each plugin in the content of its own files. */
import { isTrashPath } from "../../shared/path.ts";
import type { InspectOutput } from "../../shared/roles.ts";
import { ownStoreName } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { lostUntilMs, readRuns, renewRuns } from "../gate/runs.ts";
import type { KnownRuns } from "../gate/runs.ts";
import { mayChange, ownScopesOf } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import { grantsIn } from "../sharing/grants.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { StoreFinding } from "../store/reading.ts";
import { ownStoreOf } from "../values/ids.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import type { Finding } from "./finding.ts";
import { endingCodes, ifUnsafe, passOver } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { partOf } from "./user-scopes.ts";

/** The command `doctor` looks at many users, and mends what it has found: it is no command of one operation. */
export const inspect = defineOperation({
  name: "inspect",
  action: "inspect a user's files",
  changes: false,
  fields: {},
  run: inspectUser,
});

export const mend = defineOperation({
  name: "mend",
  action: "mend a user's files",
  changes: true,
  fields: {},
  run: mendUser,
});

async function inspectUser(operation: Operation): Promise<Finding[]> {
  const ofParts: Readonly<Record<"found" | "inScopes", Finding[]>>[] = [];
  for (const scopes of operation.parts) {
    const ofPart = await operation.hold("look", scopes, async (held) => {
      const found = (await held.findings()).map(ofStore);
      const isOfUser = scopes.length === 0;
      // Of a history or a log that cannot be read, the store's own findings say it.
      if (isOfUser && !found.some(isOfStore)) found.push(...(await runsFindings(held, operation.now())));
      return { found, inScopes: await findingsInScopes(operation, scopes, held) };
    });
    ofParts.push(ofPart);
  }
  const found = ofParts.flatMap((ofPart) => ofPart.found);
  // The store's own findings say it if it is no file.
  if (!found.some(({ path }) => path.startsWith("stores/"))) found.push(...(await grantsFindings(operation)));
  const linked = new Set(found.filter(({ problem }) => problem === "several-names").map(({ path }) => path));
  const remedy = linked.size > 0 ? mendOthersFirst : null;
  for (const inspector of operation.tools.withRole("inspect")) {
    const told = await look(operation, inspector, remedy);
    // That a plugin cannot open such a file says nothing new, and it cannot know the remedy.
    found.push(...told.filter(({ path }) => !linked.has(path)));
  }
  return found.concat(ofParts.flatMap(({ inScopes }) => inScopes));
}

/** Returns what was mended. */
async function mendUser(operation: Operation): Promise<Finding[]> {
  // Inspects first, because a hold for writing already finishes what a crash has left.
  const before = await inspectUser(operation);
  if (before.every(({ remedy }) => remedy === null)) return [];
  await mendAll(operation);
  // Cannot be cancelled, so that the result is reported even if the caller has cancelled meanwhile.
  return mendedOf(before, await inspectUser(operation.uncancelled()));
}

/** The findings with a remedy that are not found any more. */
export function mendedOf(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const left = new Set(after.map(keyOf));
  return before.filter((finding) => finding.remedy !== null && !left.has(keyOf(finding)));
}

/** A plugin's findings in its scope, with `scope` before the paths. */
export function findingsIn({ findings, findingsHidden }: InspectOutput, scope: string): Finding[] {
  const shown = findings.map(({ problem, path, message, remedy }) => ({
    problem,
    path: path === "" ? scope : `${scope}/${path}`,
    message,
    remedy,
  }));
  if (findingsHidden === 0) return shown;
  const remedy = shown.some((each) => each.remedy !== null) ? mendOthersFirst : null;
  return [...shown, notInspected(scope, `${findingsHidden} more findings are not shown`, remedy)];
}

/** The scope of a tool whose role has exactly one. */
export const scopeOf = (found: CatalogTool): string => ownScopesOf(found)[0] ?? "";

/** Asks one plugin for its findings. If it fails or gives an invalid answer, that is a finding too, with `remedy`. */
async function look(operation: Operation, inspector: CatalogTool, remedy: string | null): Promise<Finding[]> {
  try {
    const told = await operation.ask("inspect", inspector, { mend: false }, { mode: "look" });
    return findingsIn(told, scopeOf(inspector));
  } catch (error) {
    const { code, message } = asToolError(error, action);
    if (endingCodes.has(code)) throw error;
    return [notInspected(scopeOf(inspector), message, remedy)];
  }
}

/** Where the host keeps what is its own. */
const hostFolder = ".memcell/";

/** Whether it says of the host's own files that nothing can be known from them. */
const isOfStore = ({ problem, path }: Finding): boolean => problem === "history-broken" || path.startsWith(hostFolder);

const mendOthersFirst = "mend the others first";
const action = "look after a user's files";

const notInspected = (path: string, message: string, remedy: string | null): Finding => ({
  problem: "not-inspected",
  path,
  message,
  remedy,
});

/**
 * A hold for writing finishes what a crash has left. A thorough one also mends everything else that the store can mend.
 * Each plugin then mends in its own call, so that nothing changes between what it finds and what it mends. If one fails,
 * the others still mend.
 */
async function mendAll(operation: Operation): Promise<void> {
  const failures: ToolError[] = [];
  for (const inspector of mendersIn(operation)) {
    const mending = operation.ask("inspect", inspector, { mend: true }, { mode: "thorough" });
    await mending.catch((error: unknown) => void failures.push(asToolError(error, action)));
  }
  await mendRuns(operation);
  for (const scopes of await unheldParts(operation)) {
    await operation.hold("thorough", scopes, async () => {});
  }
  const [first] = failures;
  if (first !== undefined) throw first;
}

/** The inspectors that may change files. The others mend nothing and hold nothing for writing. */
function mendersIn({ tools }: Operation): CatalogTool[] {
  return tools.withRole("inspect").filter(({ tool }) => mayChange(tool.rights));
}

/** The parts that no mender holds. */
async function unheldParts(operation: Operation): Promise<(readonly string[])[]> {
  const parts = operation.parts;
  const mended = mendersIn(operation).map(scopeOf);
  const isNamed = (scope: string): boolean => parts.some((scopes) => scopes.includes(scope));
  return parts.filter((scopes) =>
    scopes.length === 0 ? mended.every(isNamed) : !mended.some((scope) => scopes.includes(scope)),
  );
}

export const ofStore = ({ code: problem, ...finding }: StoreFinding): Finding => ({ problem, ...finding });

const keyOf = ({ problem, path, message }: Finding): string => `${problem} ${path} ${message}`;

/** Of the scopes of a part: those that no loaded plugin keeps, and folders that are in the place of an entry's file. */
async function findingsInScopes(operation: Operation, part: readonly string[], reader: HeldHome): Promise<Finding[]> {
  const { tools } = operation;
  const found: Finding[] = [];
  // What cannot be read is a finding of the store.
  for (const scope of (await partOf(operation, part, reader).catch(passOver))?.scopes ?? []) {
    const survey = await reader.survey(scope).catch(passOver);
    const paths = survey?.files.flatMap(({ path }) => (isTrashPath(path) ? [] : [path])) ?? [];
    if (tools.hasScope(scope)) found.push(...foldersForEntries(operation, scope, paths));
    if (tools.hasScope(scope) || paths.length === 0) continue;
    const hint = tools.notLoaded.hintForScope(scope);
    const message = `no loaded plugin has this scope, so nothing has judged what its files say${hint ? `. ${hint}` : ""}`;
    found.push({ problem: "not-inspected", path: scope, message, remedy: null });
  }
  return found;
}

/** Folders with the name of an entry's file: their notes are read, and no tool can keep that entry. */
function foldersForEntries({ tools }: Operation, scope: string, paths: readonly string[]): Finding[] {
  const folders = new Set(paths.flatMap((path) => foldersAbove(path)));
  return Array.from(folders).flatMap((path) => {
    const entry = tools.entryAt({ scope, path });
    if (entry === null) return [];
    const message = `it is a folder with the name of a file, so no tool can keep an entry called ${quoted(entry)}: rename it`;
    return [{ problem: "folder-for-entry", path: `${scope}/${path}`, message, remedy: null }];
  });
}

const foldersAbove = (path: string): string[] => Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index));

/** Whether the grants of a user's own store can be read: if not, nobody else reaches the store, and no tool says why. */
async function grantsFindings(operation: Operation): Promise<Finding[]> {
  const own = ownStoreOf(operation.userId);
  const found = await operation.hold("look", [ownStoreName], grantsIn).catch(ifUnsafe);
  if (!(found instanceof ToolError)) return [];
  const message = "it is not what a host writes, so nobody else reaches the store: remove it, and grant access again";
  return [{ problem: "grants-unreadable", path: `stores/${own}/.memcell/grants.json`, message, remedy: null }];
}

const runsPath = ".memcell/runs/trust.json";

/** Whether the record of what runs have read is whole: if not, writes that name a run wait, and no tool says why. */
async function runsFindings({ records }: HeldHome, nowMs: number): Promise<Finding[]> {
  const known = await readRuns(records, nowMs).catch(ifUnsafe);
  // Of what cannot be opened, the store's own findings say it.
  return known instanceof ToolError ? [] : findingsAbout(known, nowMs);
}

function findingsAbout(known: KnownRuns, nowMs: number): Finding[] {
  if (known.fault !== null) {
    const isLost = known.recorded === null;
    const message = isLost ? `${known.fault}: every run counts as one that has read untrusted text` : known.fault;
    const remedy = isLost
      ? "begin another one, by which every run until now has read untrusted text"
      : "add what the history says";
    return [{ problem: "runs-unreadable", path: runsPath, message, remedy }];
  }
  const untilMs = lostUntilMs(known, nowMs);
  if (untilMs === null) return [];
  const until = new Date(untilMs).toISOString().slice(0, 10);
  const message = `it was lost: until ${until} every run counts as one that has read untrusted text`;
  return [{ problem: "runs-lost", path: runsPath, message, remedy: null }];
}

/** Does nothing if it is whole. */
async function mendRuns(operation: Operation): Promise<void> {
  await operation.hold("write", [], async ({ records }) => {
    await renewRuns(records, operation.now());
    await records.commit();
  });
}
