/** The four capabilities that read and change the store. Each first checks the grant and the path grammar. */
import type { CapabilityReply, CapabilityRequest, ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isListed, isScopePrefix } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import { decodeText, NoUtf8, sortedByPath } from "../../store/reading.ts";
import { ToolError } from "../../values/tool-error.ts";
import { freeTrashPath } from "../../values/trash-path.ts";
import { checkChangeCount, checkPath, checkPlace, checkScope, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import { checkRoomInTrash, checkRoomToWrite } from "./scope-room.ts";
import { stagedBytes } from "./staged-changes.ts";
import type { StagedFile } from "./staged-changes.ts";

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
  return { ok: true, entries };
}

function currentEntries(call: GuestCall, scope: string, prefix: string): ListedFile[] {
  const stored = call.store.list(scope, prefix);
  const touched = call.staged.touched(scope).filter(({ path }) => isListed(path, prefix));
  if (touched.length === 0) return stored;
  const byPath = new Map(stored.map((each) => [each.path, each]));
  for (const { path, file } of touched) {
    if (file.kind === "gone") byPath.delete(path);
    else byPath.set(path, { path, bytes: stagedBytes(file), changedUs: 0 });
  }
  return sortedByPath([...byPath.values()]);
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
