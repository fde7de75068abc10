/** Refuses what would make a scope larger than it may be. */
import { storeLimits } from "../../../shared/limits.ts";
import { ownStoreScope } from "../../../shared/shared-scope.ts";
import { quoted } from "../../../shared/text.ts";
import { noFiles, partOf, sumOf } from "../../store/scope-size.ts";
import type { FileSum, ScopeSize } from "../../store/scope-size.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { GuestCall } from "./guest-call.ts";
import { stagedBytes } from "./staged-changes.ts";

const { scopeBytesMax, listEntriesMax, trashFilesMax } = storeLimits;

/** Throws `QUOTA_EXCEEDED` if a scope would have too many files or bytes. `more`: by how much the write makes it larger. */
export function checkRoomToWrite(call: GuestCall, scope: string, path: string, more: FileSum): void {
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
export function checkRoomInTrash(call: GuestCall, scope: string, path: string): void {
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
