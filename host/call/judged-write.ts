/** What a call has read and wants to write: what the history says of it, and whether it takes effect. */
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { shownChanges } from "../gate/gate.ts";
import type { Gate, WaitingCall } from "../gate/gate.ts";
import type { PendingChange, PendingWrite } from "../gate/pending-write.ts";
import type { RunTrust } from "../gate/run-trust.ts";
import { isDerivedFile } from "../plugins/family-files.ts";
import type { FamilyFiles } from "../plugins/family-files.ts";
import { listsEntries, showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import { storeHome } from "../store/home.ts";
import { trustOfReads as trustIn } from "../store/versions/read-trust.ts";
import type { VersionKind, WriteFacts } from "../store/versions/version.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { statedTrust } from "../values/origin.ts";
import type { StatedOrigin } from "../values/origin.ts";
import { ownStoreOf, scopeOfStore, storeOfScope } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import type { UserId } from "../values/user-id.ts";
import type { RunningCall } from "./running-call.ts";

export interface JudgedParts {
  readonly clock: () => number;
  readonly gate: Gate;
  readonly runTrust: RunTrust;
}

/** The lowest trust of what was read. */
export interface RunReads {
  /** By the run, in earlier calls. */
  readonly ofRun: OriginClass;
  /** By this call; `null` if it has read nothing that counts. */
  readonly ofCall: OriginClass | null;
}

/** Nobody has told the user where another user's text comes from, whatever that user is told of it. */
const ofAnother: OriginClass = "unstated";

/** The lowest trust of the files that a guest has read; `null` if it has read none. */
export async function trustOfReads(
  { userId, found }: RunningCall,
  held: HeldHomes,
  seen: readonly Seen[],
  home: HeldHome,
): Promise<OriginClass | null> {
  const counted = withoutDerived(seen, found.files);
  const stores = new Set(counted.flatMap(({ scope }) => storeOfScope(scope) ?? []));
  if (stores.size === 0) return await trustIn(home.history, counted);
  const trusts: (OriginClass | null)[] = [];
  for (const id of stores) {
    const ofStore = counted.filter(({ scope }) => scope === scopeOfStore(id));
    const trust = await trustIn(held.of(storeHome(id)).history, ofStore);
    trusts.push(trust === null || id === ownStoreOf(userId) ? trust : lowestOf(trust, ofAnother));
  }
  return lowestRead(trusts);
}

/** What the history says of the changes. `atMs`: the call's time. */
export function factsOf(
  { options, userId, origin, found, record }: RunningCall,
  { atMs, reads }: { readonly atMs: number; readonly reads: RunReads },
  clock: () => number,
): WriteFacts {
  const { isUpkeep = false, kind, approved } = options;
  if (approved !== undefined) return approvedFacts(approved, userId, clock());
  const writer = { tool: found.tool.name, plugin: found.family, userId, callId: record.callId };
  const facts = writeFacts({ ...writer, origin, isUpkeep, kind, atMs });
  return { ...facts, trust: lowestOf(facts.trust, reads.ofRun, reads.ofCall ?? "owner_edit") };
}

/** The change is the call's that waited; its trust is the owner's. */
function approvedFacts(
  { id: approval, tool, plugin, run, turn, source, callId, ...write }: PendingWrite,
  userId: UserId,
  atMs: number,
): WriteFacts {
  const named = { tool, plugin, principal: userId, run, turn, source, callId, approval };
  return { atMs, ...named, class: write.class, trust: "owner_edit" };
}

interface WantedWrite {
  readonly changes: readonly SizedChange[];
  /** Of the user's own store, as the guest wants them; `null` if they do not change. */
  readonly grants: unknown;
  readonly facts: WriteFacts;
  /** The home of its tool, or the user's own store. */
  readonly home: HeldHome;
}

/**
 * The call as it waits for the owner of the memory; `false` if it does not wait, `null` if the program must be asked first.
 * Throws `WRITE_REFUSED`.
 */
export async function waits(
  gate: Gate,
  { userId, origin, found, action, input, options, answers, questions }: RunningCall,
  held: HeldHomes,
  { changes, grants, facts, home }: WantedWrite,
): Promise<WaitingCall | false | null> {
  const { isUpkeep = false, approved } = options;
  const whyNot = questions === null ? null : whyNotWait(changes, grants, ownStoreOf(userId));
  if (approved !== undefined) gate.checkApproval({ origin, action, whyNot });
  if (isUpkeep || approved !== undefined || (changes.length === 0 && whyNot === null)) return false;
  // A program that says nothing of origins must be able to write, also when its user's history was lost.
  const trust = origin.told ? facts.trust : statedTrust(origin);
  const { trust: policy, files } = found;
  const write = { userId, changes, grants, facts, trust, policy, files, action, whyNot };
  const bytesOf = (scope: string, path: string): Promise<Uint8Array | null> => {
    const id = storeOfScope(scope);
    return (id === null ? home : held.of(storeHome(id))).reader.bytesOf(scope, path);
  };
  const shown = (): Promise<PendingChange[]> => shownChanges(changes, bytesOf);
  const isWaiting = await gate.waits(write, answers, shown);
  if (isWaiting !== true) return isWaiting;
  return { action, input, epochMs: facts.atMs, facts, changes: await shown() };
}

/** Only the owner of the own store can approve what is written there; nobody can approve for another store's owner. */
function whyNotWait(changes: readonly SizedChange[], grants: unknown, own: StoreId): string | null {
  if (grants !== null) return "a change of grants cannot wait";
  return isOwn(changes, own) ? null : "only writes to the user's own store can wait";
}

const isOwn = (changes: readonly SizedChange[], own: StoreId): boolean =>
  changes.every(({ scope }) => scope === scopeOfStore(own));

/** What the history of other stores says of a change as well: nobody tells their owners where it comes from. */
export const factsIn = (facts: WriteFacts, changes: readonly SizedChange[], own: StoreId): WriteFacts =>
  isOwn(changes, own) ? facts : { ...facts, trust: lowestOf(facts.trust, ofAnother) };

/** Who writes: a tool in a call, or the data's owner in an operation. */
interface Writer {
  readonly atMs: number;
  /** The tool, or the operation's name. */
  readonly tool: string;
  /** `null` if no plugin is involved. */
  readonly plugin: string | null;
  readonly userId: string;
  readonly callId: string;
  readonly origin: StatedOrigin;
  /** Whether the data's owner has asked for it. Then its class is `owner_edit`, unless the program says another. */
  readonly isUpkeep: boolean;
  readonly kind?: VersionKind | undefined;
}

/** What the history says of a change set. */
export function writeFacts({ origin, isUpkeep, kind, userId, ...writer }: Writer): WriteFacts {
  const stated = isUpkeep && !origin.told ? "owner_edit" : origin.class;
  const trust = isUpkeep && !origin.told ? stated : statedTrust(origin);
  const { run, turn, source } = origin;
  const { atMs, tool, plugin, callId } = writer;
  // Nobody can say where an imported text was before.
  const bounded = kind === "imported" ? lowestOf(trust, "unstated") : trust;
  return { atMs, tool, plugin, principal: userId, class: stated, trust: bounded, run, turn, source, callId };
}

/**
 * Whether what a tool reads can get to a model, or into what it writes. That holds for tools of programs too: a program can
 * offer one to a model under a name of its own. An index is in every prompt, and a list in every client, with labels: if
 * they counted, every run would be trusted as little as the least trusted entry.
 */
export const readsEntries = (found: CatalogTool): boolean => showsEntries(found) && !listsEntries(found);

/** What a plugin makes from its other files repeats them, and says nothing of its own. */
const withoutDerived = (seen: readonly Seen[], files: FamilyFiles): Seen[] =>
  seen.filter((file) => !isDerivedFile(files, file));

/** Of some histories together; `null` if nothing was read. */
function lowestRead(trusts: readonly (OriginClass | null)[]): OriginClass | null {
  const read = trusts.filter((trust) => trust !== null);
  return read.length === 0 ? null : lowestOf(...read);
}
