/** What the owner does to one entry of any family: adds it, writes its text, moves it to the trash, or vouches for it. */
import { shownPath } from "../../shared/encoded-name.ts";
import { isScopePath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { ownScopesOf, unknownRole } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { Place, SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { freeTrashPath } from "../values/trash-path.ts";
import { defineOperation } from "./define-operation.ts";
import { checkHasScope, derivedChanges } from "./derived-changes.ts";
import { entry, textOf } from "./entries.ts";
import { optional, text } from "./field.ts";
import { FilePlaces } from "./file-places.ts";
import { fileFields, findLive } from "./find-file.ts";
import type { NamedFile } from "./find-file.ts";
import type { Operation } from "./operation.ts";
import type { ChangedEntry, ShownEntry } from "./own-entry.ts";
import { applyPlan, planFrom, withMade } from "./plan.ts";
import type { MadeChanges } from "./plan.ts";
import { trashOf, trashPathOf } from "./trash.ts";

const isSha256 = (typed: string): boolean => /^[0-9a-f]{16,64}$/.test(typed);
const sha256Expected = "a SHA-256, or at least its first 16 hexadecimal digits";
const ifSha256 = optional({
  ...text("SHA256", "does it only if the file has this content", sha256Expected, isSha256),
  flag: "if-sha256",
});

/** The command of this name opens an editor: it is no command of one operation. */
export const add = defineOperation({
  name: "add",
  action: "add an entry",
  changes: true,
  fields: {
    text: text("TEXT", "what to remember"),
    name: optional(text("NAME", "a name that no entry has (default: made of the text)")),
    family: optional(text("FAMILY", "the plugin that is to keep it, if several can")),
  },
  run: addEntry,
});

export const edit = defineOperation({
  name: "edit",
  action: "edit",
  changes: true,
  fields: { ...fileFields, text: text("TEXT", "the new text"), ifSha256 },
  run: (operation, { text: written, ...named }) => editEntry(operation, named, written),
});

export const trash = defineOperation({
  name: "trash",
  action: "forget",
  changes: true,
  fields: { ...fileFields, ifSha256 },
  run: trashEntry,
  command: {
    name: "forget",
    summary: "moves an entry to the trash",
    description: 'Moves an entry to the trash, and the index is made to fit. "memcell trash restore" brings it back.',
    operands: ["name"],
    examples: ["memcell forget editor"],
    tells: ({ name: of }: ChangedEntry, { input: { scope }, toCopy }) => [
      `Moved ${shownPath(of)} to the trash; to bring it back:`,
      toCopy("trash restore", { scope }, shownPath(of)),
    ],
  },
});

export const vouch = defineOperation({
  name: "vouch",
  action: "confirm",
  changes: true,
  fields: { ...fileFields, ifSha256 },
  run: vouchFor,
  plan: { name: "planVouch", action: "confirm", changes: false, run: entry },
  command: {
    name: "confirm",
    summary: "says that you have read an entry and that it is right",
    description: `Says that you have read an entry and that it is right. Its text stays as it is; from then on it is trusted as yours, and no agent
is told that it comes from elsewhere. Without --yes, it is only shown, with the hash by which you say what you have read.`,
    operands: ["name"],
    examples: ["memcell confirm editor", "memcell confirm editor --if-sha256 6f2c01d28a4be097 --yes"],
    tells: (shown: ShownEntry | ChangedEntry, { input: { name, scope }, toCopy }) => {
      if (!("file" in shown)) return [`Confirmed ${shownPath(shown.name)}`];
      const options = { scope, "if-sha256": shown.file.sha256.slice(0, 16), yes: "" };
      return [...textOf(shown), "", "If it is right:", toCopy("confirm", options, name)];
    },
  },
});

type Named = NamedFile & { readonly ifSha256?: string | undefined };

/** The whole of the new text is the owner's. */
async function editEntry(operation: Operation, named: Named, written: string): Promise<ChangedEntry> {
  const content = contentOf(operation, written);
  return await changeEntry(operation, named, "approved", async (_, place) => writeOf(place, content));
}

/** The bytes of a text that the owner has written. Throws `INPUT_INVALID` if it has none. */
export function contentOf({ action }: Operation, written: string): Uint8Array {
  if (written.isWellFormed()) return Buffer.from(written);
  throw new ToolError("INPUT_INVALID", `Cannot ${action}: the text has a lone surrogate`);
}

export const writeOf = (place: Place, content: Uint8Array): SizedChange => ({
  kind: "write",
  ...place,
  content,
  bytes: content.length,
});

const refusalOf = ({ action }: Operation, { name }: Named): string => `Cannot ${action} ${quoted(name)}`;

/** The file stays as it is; from now on it is trusted as the owner's. Throws `INPUT_INVALID` without a hash of what was read. */
async function vouchFor(operation: Operation, named: Named): Promise<ChangedEntry> {
  if (named.ifSha256 === undefined) {
    const expected = "the hash of the text that you have read (--if-sha256)";
    throw new ToolError("INPUT_INVALID", `${refusalOf(operation, named)}: ifSha256 is missing; expected ${expected}`);
  }
  return await changeEntry(operation, named, "approved", async (_, place, present) => writeOf(place, present));
}

/** The plugin makes an entry of the owner's words: none that is there changes. */
async function addEntry(
  operation: Operation,
  {
    family,
    ...asked
  }: { readonly text: string; readonly name?: string | undefined; readonly family?: string | undefined },
): Promise<ShownEntry> {
  const { action, tools } = operation;
  const able = tools.withRole("add").filter((tool) => family === undefined || tool.family === family);
  const [found, ...others] = able;
  if (found === undefined) throw unknownRole(action, "add", { family, hint: undefined });
  if (others.length > 0) {
    const families = able.map((tool) => quoted(tool.family)).join(" or ");
    throw new ToolError("INPUT_INVALID", `Cannot ${action}: family is missing; expected ${families}`);
  }
  const { path } = await operation.ask("add", found, asked);
  const [scope] = ownScopesOf(found);
  return await entry(operation, { name: path, scope });
}

async function trashEntry(operation: Operation, named: Named): Promise<ChangedEntry> {
  return await changeEntry(operation, named, undefined, async (held, place, present) => {
    const taken = new FilePlaces((await trashOf(held, place.scope)).map(trashPathOf));
    const trashed = freeTrashPath(place.path, operation.now(), (each) => taken.inTheWayOf(each) !== null);
    if (isScopePath(trashed)) return { kind: "trash", ...place, trashed, bytes: present.length };
    throw new ToolError("INPUT_INVALID", `Cannot ${operation.action}: its name would be too long in the trash`);
  });
}

/** Changes an entry's file, and what its plugin makes from it, in one change set. `make` is given what it has. Throws as `madeOf`. */
async function changeEntry(
  operation: Operation,
  named: Named,
  kind: VersionKind | undefined,
  make: (held: HeldHome, place: Place, present: Uint8Array) => Promise<SizedChange>,
): Promise<ChangedEntry> {
  const place = await findLive(operation, named);
  const { scope, path } = place;
  const refusal = refusalOf(operation, named);
  checkHasScope(operation, scope, refusal);
  if (operation.tools.isDerivedAt(place)) {
    throw new ToolError("INPUT_INVALID", `${refusal}: its plugin makes it from other files; change one of these`);
  }
  const plan = async (inside: Operation) => {
    const own = await inside.hold("read", [scope], async (held) => {
      const present = await held.bytesOf(scope, path);
      if (present === null) throw new ToolError("ENTRY_NOT_FOUND", `${refusal}: it has gone meanwhile`);
      if (!(digestOf(present) ?? "").startsWith(named.ifSha256 ?? ""))
        throw new ToolError("VERSION_CONFLICT", `${refusal}: it has changed since it was read`);
      const change = await make(held, place, present);
      return { ...planFrom(held, [change]), change, present };
    });
    return withMade(own, await madeOf(inside, place, own.changes));
  };
  const { change, present } = await applyPlan(operation, { scopes: [scope], kind, plan });
  const content = change.kind === "write" ? change.content : present;
  const name = operation.tools.entryAt(place) ?? path;
  return { name, scope, path, sha256: digestOf(Buffer.from(content)) ?? "" };
}

/** What a plugin makes anew of a file that changes. Throws the plugin's code if it could not use the file. */
export async function madeOf(
  operation: Operation,
  { scope, path }: Place,
  changes: readonly SizedChange[],
): Promise<MadeChanges> {
  const made = await derivedChanges(operation, { scope, changes, paths: [path] });
  const [refused] = made.refused;
  if (refused) throw new ToolError(refused.code, `Cannot ${operation.action} ${quoted(path)}: ${refused.reason}`);
  return { ...made, changes: await asTrusted(operation, made.changes) };
}

/** What a plugin makes repeats other entries, too. It is trusted no more than it was: the owner has not read it. */
export async function asTrusted(
  operation: Operation,
  changes: readonly SizedChange[],
): Promise<readonly SizedChange[]> {
  const trusted: SizedChange[] = [];
  for (const change of changes) {
    const { scope, path } = change;
    const trust = await operation.hold(
      "read",
      [scope],
      async ({ history }) => (await history.originOf(scope, path))?.trust ?? history.state().unknown,
    );
    trusted.push(change.kind === "write" ? { ...change, trust } : change);
  }
  return trusted;
}
