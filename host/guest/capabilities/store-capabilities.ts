/** The four capabilities that read and change the store. Each first checks the grant and the path grammar. */
import type { CapabilityReply, CapabilityRequest, ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePrefix } from "../../../shared/path.ts";
import { ownStoreScope } from "../../../shared/shared-scope.ts";
import { quoted } from "../../../shared/text.ts";
import { NoUtf8, byPath, decodeText, noFiles, partOf, sumOf } from "../../store/reading.ts";
import type { FileSum, ScopeSize } from "../../store/reading.ts";
import { ToolError } from "../../values/tool-error.ts";
import { freeTrashPath } from "../../values/trash-path.ts";
import { checkChangeCount, checkPath, checkPlace, checkScope, denied, refuseTrash, stagedBytes } from "./guest-call.ts";
import type { GuestCall, StagedFile } from "./guest-call.ts";

/** Returns a file's staged or stored text; `null` if there is no file. */
export function storeRead(call: GuestCall, asked: CapabilityRequest<"store_read">): CapabilityReply<"store_read"> {
  const { scope, path } = checkPlace(call, "store_read", asked);
  try {
    const content = currentText(call, scope, path);
    call.trail.read(scope, path, content === null ? null : Buffer.byteLength(content));
    return { ok: true, content };
  } catch (error) {
    // The refusal has what can be read of the file.
    if (error instanceof NoUtf8) call.trail.read(scope, path, error.bytes);
    throw error;
  }
}

function currentText({ staged, store }: GuestCall, scope: string, path: string): string | null {
  const file = staged.fileAt(scope, path);
  switch (file?.kind) {
    case undefined:
      return store.read(scope, path);
    case "written":
      return typeof file.content === "string" ? file.content : decodeText(file.content, path);
    case "moved":
      return store.read(scope, file.from);
    case "gone":
      return null;
  }
}

/** Lists the files whose path begins with the prefix, sorted. Files below `trash/` only if the prefix names it. */
export function storeList(
  call: GuestCall,
  { scope: asked, prefix = "" }: CapabilityRequest<"store_list">,
): CapabilityReply<"store_list"> {
  const scope = checkScope(call, "store_list", asked);
  if (!isScopePrefix(prefix)) throw denied(`Cannot list ${quoted(prefix)}: it is not the beginning of a path`);
  const entries = currentEntries(call, scope, prefix);
  call.trail.list(scope, prefix, entries.length);
  const leftOut = prefix === "" ? call.store.leftOutOf(scope) : 0;
  return { ok: true, entries, ...(leftOut > 0 && { leftOut }) };
}

function currentEntries(call: GuestCall, scope: string, prefix: string): ListedFile[] {
  const stored = call.store.list(scope, prefix);
  const touched = call.staged.touched(scope).filter(({ path }) => isListed(path, prefix));
  if (touched.length === 0) return stored;
  const entries = new Map(stored.map((each) => [each.path, each]));
  for (const { path, file } of touched) {
    if (file.kind === "gone") entries.delete(path);
    else entries.set(path, { path, bytes: stagedBytes(file), changedUs: 0 });
  }
  return [...entries.values()].toSorted(byPath);
}

/** Stages a whole file, within the limits of a file and of the user's scope. */
export function storeWrite(call: GuestCall, asked: CapabilityRequest<"store_write">): CapabilityReply<"store_write"> {
  const { scope, path } = checkPlace(call, "store_write", asked);
  const { content } = asked;
  refuseTrash(path);
  refuseNesting(call, scope, path);
  checkChangeCount(call, path);
  const bytes = Buffer.byteLength(content);
  checkSize(call, scope, path, bytes);
  checkStagedBytes(call, scope, path, bytes);
  call.staged.write(scope, path, content, bytes);
  call.trail.write(scope, path, bytes);
  return { ok: true };
}

/** A file must not be another file's folder. Stored files are checked later, when their size is read. */
function refuseNesting(call: GuestCall, scope: string, path: string): void {
  const other = madeBelow(call, scope, path) ?? madeAbove(call, scope, path);
  if (other !== null) throw denied(`Cannot write ${quoted(path)}: this call has made ${quoted(other)}`);
}

/** A file that the call has made in a folder with this path. */
function madeBelow(call: GuestCall, scope: string, path: string): string | null {
  return madeBy(call, scope, (each) => each.startsWith(`${path}/`));
}

/** A file that the call has made where this path needs a folder. */
function madeAbove(call: GuestCall, scope: string, path: string): string | null {
  return madeBy(call, scope, (each) => path.startsWith(`${each}/`));
}

function madeBy({ staged }: GuestCall, scope: string, isMeant: (path: string) => boolean): string | null {
  return staged.touched(scope).find(({ path, file }) => file.kind !== "gone" && isMeant(path))?.path ?? null;
}

function checkSize(call: GuestCall, scope: string, path: string, bytes: number): void {
  const { fileBytesMax } = storeLimits;
  // Read first, so that a link in the file's place ends the call before anything is committed.
  const replacedBytes = sizeNow(call, scope, path);
  if (bytes > fileBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot write ${quoted(path)}: it is ${bytes} bytes, at most ${fileBytesMax} allowed`,
    );
  }
  checkRoomToWrite(call, scope, path, {
    files: replacedBytes === null ? 1 : 0,
    bytes: bytes - (replacedBytes ?? 0) - call.grant.freedBytes,
  });
}

/** Content that was written and then trashed still takes memory, so it counts here as well as in the scope. */
function checkStagedBytes({ staged, grant }: GuestCall, scope: string, path: string, bytes: number): void {
  const stagedBytesNow = staged.writtenBytesWith(scope, path, bytes);
  const { stagedBytes: stagedBytesMax } = grant.limits;
  if (stagedBytesNow <= stagedBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot write ${quoted(path)}: this call would write ${stagedBytesNow} bytes, at most ${stagedBytesMax} allowed`,
  );
}

/** The size of a file as the call sees it, in bytes; `null` if there is none. */
function sizeNow(call: GuestCall, scope: string, path: string): number | null {
  const file = call.staged.fileAt(scope, path);
  const storedBytes = call.store.sizeOf(scope, path);
  if (file === undefined) return storedBytes;
  return file.kind === "gone" ? null : file.bytes;
}

/** Stages a move into `trash/`, to a free name. */
export function storeTrash(call: GuestCall, asked: CapabilityRequest<"store_trash">): CapabilityReply<"store_trash"> {
  const { scope, path } = checkPlace(call, "store_trash", asked);
  refuseTrash(path);
  checkChangeCount(call, path);
  const file = fileToMove(call, scope, path);
  if (file === null) throw denied(`Cannot trash ${quoted(path)}: no such file`);
  checkRoomInTrash(call, scope, path);
  const trashed = freePath(call, scope, path);
  checkPath(trashed);
  refuseNesting(call, scope, trashed);
  call.staged.trash(scope, path, trashed, file);
  call.trail.trash(scope, path, { trashed, bytes: stagedBytes(file) });
  return { ok: true, trashed };
}

/** Does not read a stored file, so a file that is not text can be trashed too. */
function fileToMove(call: GuestCall, scope: string, path: string): StagedFile | null {
  const staged = call.staged.fileAt(scope, path);
  if (staged !== undefined) return staged.kind === "gone" ? null : staged;
  const bytes = call.store.sizeOf(scope, path);
  return bytes === null ? null : { kind: "moved", from: path, bytes };
}

function freePath(call: GuestCall, scope: string, path: string): string {
  return freeTrashPath(
    path,
    call.epochMs,
    (each) =>
      call.staged.fileAt(scope, each) !== undefined ||
      madeBelow(call, scope, each) !== null ||
      call.store.sizeOf(scope, each) !== null,
  );
}

const { scopeBytesMax, listEntriesMax, trashFilesMax } = storeLimits;

/** Throws `QUOTA_EXCEEDED` if a scope would have too many files or bytes. `more`: by how much the write makes it larger. */
function checkRoomToWrite(call: GuestCall, scope: string, path: string, more: FileSum): void {
  const changed = growth(call, scope);
  const size = { ...changed, live: sumOf(changed.live, more) };
  const [hasMoreFiles, hasMoreBytes] = [size.live.files > 0, bytesOf(size) > 0];
  // A full scope can still shrink. Without growth, the scope need not be measured, which looks at every file.
  if (!hasMoreFiles && !hasMoreBytes) return;
  refuseIf(call, { scope, act: `write ${quoted(path)}` }, size, (whole) => {
    if (hasMoreBytes && bytesOf(whole) > scopeBytesMax) return bytesRefused(whole);
    return hasMoreFiles && whole.live.files > listEntriesMax ? filesRefused(whole.live.files) : null;
  });
}

function bytesRefused(whole: ScopeSize): Refusal {
  const [bytes, trashBytes] = [bytesOf(whole), whole.trash.bytes];
  const purge = trashBytes > 0 ? `; "memcell trash purge" frees at most ${trashBytes} bytes` : "";
  return {
    told: `hold ${bytes} bytes with its trash, at most ${scopeBytesMax} allowed${purge}`,
    untold: `hold too many bytes with its trash, at most ${scopeBytesMax} allowed`,
  };
}

const filesRefused = (files: number): Refusal => ({
  told: `have ${files} files outside its trash, at most ${listEntriesMax} allowed`,
  untold: `have too many files outside its trash, at most ${listEntriesMax} allowed`,
});

/** Throws `QUOTA_EXCEEDED` if there would be too many files in a scope's trash. */
function checkRoomInTrash(call: GuestCall, scope: string, path: string): void {
  const changed = growth(call, scope);
  const size = { ...changed, trash: sumOf(changed.trash, { files: 1, bytes: 0 }) };
  refuseIf(call, { scope, act: `trash ${quoted(path)}` }, size, ({ trash: { files } }) =>
    files <= trashFilesMax ? null : trashRefused(files),
  );
}

const trashRefused = (files: number): Refusal => ({
  told: `have ${files} files in its trash, at most ${trashFilesMax} allowed; "memcell trash purge" removes them`,
  untold: `have too many files in its trash, at most ${trashFilesMax} allowed; its owner can purge them`,
});

/** What the scope would do. */
interface Refusal {
  readonly told: string;
  /** Of a store of somebody else, how much is in it is not told: it has entries that the caller does not see. */
  readonly untold: string;
}

/** `changed`: by how much the call makes the scope larger. */
function refuseIf(
  call: GuestCall,
  { scope, act }: { readonly scope: string; readonly act: string },
  changed: ScopeSize,
  refusalOf: (whole: ScopeSize) => Refusal | null,
): void {
  const whole = (isAnew: boolean): ScopeSize => added(call.store.scopeSize(scope, isAnew), changed);
  if (refusalOf(whole(false)) === null) return;
  // Perhaps a person has emptied the trash by hand meanwhile.
  const refusal = refusalOf(whole(true));
  if (refusal === null) return;
  const subject = call.reached === null ? `the user's "${scope}"` : "the store";
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot ${act}: ${subject} would ${isOwn(call, scope) ? refusal.told : refusal.untold}`,
  );
}

const isOwn = ({ reached, grant }: GuestCall, scope: string): boolean =>
  reached === null || reached.scopeFor("store_write", ownStoreScope, grant.rights) === scope;

const bytesOf = ({ live, trash }: ScopeSize): number => live.bytes + trash.bytes;

const added = (a: ScopeSize, b: ScopeSize): ScopeSize => ({
  live: sumOf(a.live, b.live),
  trash: sumOf(a.trash, b.trash),
});

/** By how much the call's changes so far make a scope larger. */
function growth(call: GuestCall, scope: string): ScopeSize {
  const size = { live: noFiles, trash: noFiles };
  for (const { path, file } of call.staged.touched(scope)) {
    const before = call.store.sizeOf(scope, path);
    const files = Number(file.kind !== "gone") - Number(before !== null);
    size[partOf(path)] = sumOf(size[partOf(path)], { files, bytes: stagedBytes(file) - (before ?? 0) });
  }
  return size;
}
