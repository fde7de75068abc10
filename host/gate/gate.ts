/** How far what a call has read and wants to write is trusted, and so whether the write takes effect, waits, or is refused. */
import { hash } from "node:crypto";

import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isDerivedFile, listsEntries, reachesStores, showsEntries } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { trustOfReads as trustIn } from "../store/versions/present-origins.ts";
import type { VersionKind, WriteFacts } from "../store/versions/version.ts";
import type { AskedWrite, AskingTurn, WriteHook, WrittenFile } from "../values/asked-program.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { ownStoreOf, scopeOfStore, storeOfScope } from "../values/ids.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import { statedTrust } from "../values/origin.ts";
import type { StatedOrigin } from "../values/origin.ts";
import { ToolError } from "../values/tool-error.ts";
import { inTime } from "../values/turns.ts";
import { shownChanges } from "./pending.ts";
import type { PendingChange, PendingWrite } from "./pending.ts";

/** Nobody has told the user where another user's text comes from, whatever that user is told of it. */
const ofAnother: OriginClass = "unstated";

/**
 * Whether what a tool reads can get to a model, or into what it writes. That holds for tools of programs too: a program can
 * offer one to a model under a name of its own. An index is in every prompt, and a list in every client, with labels: if
 * they counted, every run would be trusted as little as the least trusted entry.
 */
export const readsEntries = (found: CatalogTool): boolean => showsEntries(found) && !listsEntries(found);

/**
 * The lowest trust of the files that a guest has read; `null` if it has read none. What a plugin makes from its other files
 * repeats them, and says nothing of its own. `home`: that of its tool, or the user's own store.
 */
export async function trustOfReads(
  { userId, found }: { readonly userId: UserId; readonly found: CatalogTool },
  home: HeldHome,
  seen: readonly Seen[],
): Promise<OriginClass | null> {
  const counted = seen.filter((file) => !isDerivedFile(found.files, file));
  const trusts: OriginClass[] = [];
  for (const scope of new Set(counted.map((file) => file.scope))) {
    const ofScope = counted.filter((file) => file.scope === scope);
    const trust = await trustIn(home.withScope(scope).history, ofScope);
    const isOthers = ![null, ownStoreOf(userId)].includes(storeOfScope(scope));
    if (trust !== null) trusts.push(isOthers ? lowestOf(trust, ofAnother) : trust);
  }
  return trusts.length === 0 ? null : lowestOf(...trusts);
}

/** Who writes: a tool in a call, or the data's owner in an operation, which has no plugin and is named as a tool is. */
interface Writer extends Pick<WriteFacts, "atMs" | "tool" | "plugin" | "principal" | "callId"> {
  readonly origin: StatedOrigin;
  /** Whether the data's owner has asked for it. Then its class is `owner_edit`, unless the program says another. */
  readonly isUpkeep: boolean;
  readonly kind?: VersionKind | undefined;
  /** The lowest trust of what it has read: its text is trusted no more. */
  readonly read: OriginClass;
}

/** What the history says of a change set. */
export function writeFacts(writer: Writer): WriteFacts {
  const { atMs, tool, plugin, principal, callId, origin, isUpkeep, kind, read } = writer;
  const { run, turn, source, told } = origin;
  const stated = isUpkeep && !told ? { ...origin, class: "owner_edit" as const } : origin;
  // Nobody can say where an imported text was before.
  const trust = lowestOf(statedTrust(stated), read, kind === "imported" ? "unstated" : "owner_edit");
  return { atMs, tool, plugin, principal, class: stated.class, trust, run, turn, source, callId };
}

/** The same of a write that its owner has approved: it is the call's that waited, and its trust is the owner's. */
export function approvedFacts(
  { id: approval, tool, plugin, run, turn, source, callId, ...write }: PendingWrite,
  userId: UserId,
  atMs: number,
): WriteFacts {
  const named = { tool, plugin, principal: userId, run, turn, source, callId, approval };
  return { atMs, ...named, class: write.class, trust: "owner_edit" };
}

/** What the history of other stores says of a change as well: nobody tells their owners where it comes from. */
export const factsIn = (facts: WriteFacts, changes: readonly SizedChange[], own: StoreId): WriteFacts =>
  isOwn(changes, own) ? facts : { ...facts, trust: lowestOf(facts.trust, ofAnother) };

const isOwn = (changes: readonly SizedChange[], own: StoreId): boolean =>
  changes.every(({ scope }) => scope === scopeOfStore(own));

/** A call that wants to write. */
interface GatedCall {
  readonly userId: UserId;
  readonly found: CatalogTool;
  readonly origin: StatedOrigin;
  readonly action: string;
  /** `isUpkeep`: the owner has asked for it, or has approved it. */
  readonly options: { readonly isUpkeep?: boolean; readonly approved?: unknown };
  readonly hookAnswers: HookAnswers | null;
}

/** What it wants to write. */
interface GatedWrite {
  readonly changes: readonly SizedChange[];
  /** Of stores, as the guest wants them; `null` if they do not change. */
  readonly grants: unknown;
  readonly facts: WriteFacts;
  /** Has the files as they are now. */
  readonly home: HeldHome;
}

/** The program's hook, and what it says of the writes of one call. */
export interface HookAnswers {
  readonly hook: WriteHook;
  /** Gets why the hook has not answered. */
  readonly onFailure: (error: unknown) => void;
  /** Whether it raises a write, by the write's digest. */
  readonly raised: Map<string, boolean>;
}

/** What the hook must be asked before a write takes effect. */
export interface HookQuestion {
  readonly answers: HookAnswers;
  /** Of all of the write. */
  readonly digest: string;
  readonly asked: AskedWrite;
}

/**
 * Whether a write takes effect, or what the program must be asked first; or else its changes as they wait for the owner of the
 * memory. Throws `WRITE_REFUSED` if it neither takes effect nor can wait, or was not approved by the owner.
 */
export async function judge(
  call: GatedCall,
  write: GatedWrite,
): Promise<"takes effect" | HookQuestion | readonly PendingChange[]> {
  const { userId, origin, found, hookAnswers: answers, action, options } = call;
  const { changes, grants, facts, home } = write;
  const whyNot = reachesStores(found) ? whyNotWait(changes, grants, ownStoreOf(userId)) : null;
  if (options.approved !== undefined) checkApproval(origin, action, whyNot);
  if (options.isUpkeep || (changes.length === 0 && whyNot === null)) return "takes effect";
  // A program that says nothing of origins must be able to write, also when its user's history was lost.
  const trust = origin.told ? facts.trust : statedTrust(origin);
  const { active, pending } = found.trust;
  const isActive = isAtLeast(trust, active);
  if (!isActive && !isAtLeast(trust, pending)) {
    throw refused(action, `the trust of its text is ${trust}, the policy allows ${pending} and above`);
  }
  if (isActive && answers === null) return "takes effect";
  if (!isActive && whyNot !== null) throw cannotWait(action, whyNot);
  const shown = await shownChanges(changes, (scope, path) => home.withScope(scope).bytesOf(scope, path));
  if (!isActive || answers === null) return shown;
  const digest = digestOf(found, write, shown);
  const isRaised = answers.raised.get(digest);
  if (isRaised === undefined) return { answers, digest, asked: askedOf(userId, write) };
  if (!isRaised) return "takes effect";
  if (whyNot !== null) throw cannotWait(action, whyNot);
  return shown;
}

/** Only the owner of the own store can approve what is written there; nobody can approve for another store's owner. */
function whyNotWait(changes: readonly SizedChange[], grants: unknown, own: StoreId): string | null {
  if (grants !== null) return "a change of grants cannot wait";
  return isOwn(changes, own) ? null : "only writes to the user's own store can wait";
}

/** What could not have waited was not shown, so it cannot be approved. */
function checkApproval(origin: StatedOrigin, action: string, whyNot: string | null): void {
  if (whyNot !== null) throw refused(action, `it cannot be approved: ${whyNot}`);
  checkOwner(origin, action);
}

/** Only the owner raises the trust of a text: the user, or a program that says nothing of origins. */
export function checkOwner(origin: StatedOrigin, action: string): void {
  const trust = statedTrust(origin);
  if (!origin.told || isAtLeast(trust, "direct_user")) return;
  throw refused(action, `the trust of its approval is ${trust}, allowed: direct_user and above, or no origin`);
}

const cannotWait = (action: string, whyNot: string): ToolError =>
  refused(action, `it would have to wait for the owner of the memory, and ${whyNot}`);

const refused = (action: string, why: string): ToolError => new ToolError("WRITE_REFUSED", `Cannot ${action}: ${why}`);

/**
 * The same for two writes only if the hook would be shown the same, made from the same files. As for an approval, what a
 * plugin makes from its other files can differ: it repeats them. It counts if nothing else is written.
 */
function digestOf({ files }: CatalogTool, { facts, grants }: GatedWrite, shown: readonly PendingChange[]): string {
  const ofEntries = shown.filter((change) => !isDerivedFile(files, change));
  const changes = ofEntries.length === 0 ? shown : ofEntries;
  return hash("sha256", JSON.stringify([facts.class, facts.trust, changes, grants]));
}

function askedOf(userId: UserId, { changes, facts }: GatedWrite): AskedWrite {
  const { tool, plugin, trust, run, turn, source } = facts;
  const origin = { class: facts.class, run, turn, source };
  const files = changes.map((change): WrittenFile => {
    const { scope, path } = change;
    return { scope, path, text: change.kind === "write" ? Buffer.from(change.content).toString("utf8") : null };
  });
  return { userId, tool: tool ?? "", plugin: plugin ?? "", origin, trust, files };
}

const answerMs = 5_000;

/** How often the hook of one call is asked at most: each time others have changed the files while it answered. */
const asksMax = 4;

/**
 * Asks the hook about a write, which is raised if it does not answer. For calls that hold no locks. Throws `BUSY` if it was
 * asked too often.
 */
export async function askHook(
  { answers, digest, asked }: HookQuestion,
  { turn, action }: { readonly turn: AskingTurn; readonly action: string },
): Promise<void> {
  const { hook, onFailure, raised } = answers;
  const { signal } = turn;
  if (raised.size === asksMax) {
    const reason = `others have changed the files each of the ${asksMax} times that onWrite was asked`;
    throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
  }
  const isRaised = async (): Promise<boolean> => {
    const until = performance.now() + answerMs;
    try {
      return (await inTime(Promise.resolve(hook(asked)), { until, signal, tooLong })) !== "ok";
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
      return true;
    }
  };
  raised.set(digest, await turn.askProgram(isRaised, { isWaiting: false }));
}

const tooLong = (waitedMs: number): ToolError => new ToolError("BUSY", `onWrite has not answered in ${waitedMs} ms`);
