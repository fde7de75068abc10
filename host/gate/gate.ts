import { hash } from "node:crypto";

import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
/** How far what a call has read and wants to write is trusted, and so whether the write takes effect, waits, or is refused. */
import type { TrustPolicy } from "../plugins/policy/policy.ts";
import { isDerivedFile, listsEntries, showsEntries } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import { storeHome } from "../store/home.ts";
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
  held: HeldHomes,
  seen: readonly Seen[],
  home: HeldHome,
): Promise<OriginClass | null> {
  const counted = seen.filter((file) => !isDerivedFile(found.files, file));
  const stores = new Set(counted.flatMap(({ scope }) => storeOfScope(scope) ?? []));
  if (stores.size === 0) return await trustIn(home.history, counted);
  const trusts: OriginClass[] = [];
  for (const id of stores) {
    const ofStore = counted.filter(({ scope }) => scope === scopeOfStore(id));
    const trust = await trustIn(held.of(storeHome(id)).history, ofStore);
    if (trust !== null) trusts.push(id === ownStoreOf(userId) ? trust : lowestOf(trust, ofAnother));
  }
  return trusts.length === 0 ? null : lowestOf(...trusts);
}

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

/** What a call wants to write. */
interface GatedWrite {
  readonly userId: UserId;
  readonly found: CatalogTool;
  readonly origin: StatedOrigin;
  readonly action: string;
  /** Of stores, as the guest wants them; `null` if they do not change. */
  readonly grants: unknown;
  readonly changes: readonly SizedChange[];
  readonly facts: WriteFacts;
  /** Whether the owner has asked for it, or has approved it. */
  readonly isOwners: boolean;
  readonly isApproved: boolean;
  /** Whether its tool works on shared stores. */
  readonly isShared: boolean;
  /** What the program's hook says of the call's writes; `null` if there is no hook. */
  readonly answers: HookAnswers | null;
  /** What a file is now. */
  readonly bytesOf: (scope: string, path: string) => Promise<Uint8Array | null>;
}

/**
 * Whether a write takes effect, or the program must be asked first; or else its changes as they wait for the owner of the
 * memory. Throws `WRITE_REFUSED` if it neither takes effect nor can wait, or was not approved by the owner.
 */
export async function judge(write: GatedWrite): Promise<"takes effect" | "ask" | readonly PendingChange[]> {
  const { userId, changes, grants, facts, origin, found, answers, action } = write;
  const whyNot = write.isShared ? whyNotWait(changes, grants, ownStoreOf(userId)) : null;
  if (write.isApproved) checkApproval(origin, action, whyNot);
  if (write.isOwners || (changes.length === 0 && whyNot === null)) return "takes effect";
  // A program that says nothing of origins must be able to write, also when its user's history was lost.
  const trust = origin.told ? facts.trust : statedTrust(origin);
  const verdict = judgeWrite(trust, found.trust);
  if (verdict === "refused") {
    const allowed = `the policy allows ${found.trust.pending} and above`;
    throw refused(action, `the trust of its text is ${trust}, ${allowed}`);
  }
  if (verdict === "active" && answers === null) return "takes effect";
  if (verdict === "pending" && whyNot !== null) throw cannotWait(action, whyNot);
  const shown = await shownChanges(changes, write.bytesOf);
  const waits = verdict === "pending" || answers === null || answers.of(digestOf(write, shown), () => asked(write));
  if (waits === null) return "ask";
  if (!waits) return "takes effect";
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
function digestOf({ facts, found, grants }: GatedWrite, shown: readonly PendingChange[]): string {
  const ofEntries = shown.filter((change) => !isDerivedFile(found.files, change));
  const changes = ofEntries.length === 0 ? shown : ofEntries;
  return hash("sha256", JSON.stringify([facts.class, facts.trust, changes, grants]));
}

function asked({ userId, changes, facts }: GatedWrite): AskedWrite {
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

/** What the hook says of the writes of one call. */
export class HookAnswers {
  readonly #hook: WriteHook;
  readonly #onFailure: (error: unknown) => void;
  /** Whether it raises a write, by the write's digest. */
  readonly #raised = new Map<string, boolean>();
  #lacking: { readonly digest: string; readonly write: AskedWrite } | null = null;

  /** `onFailure` gets why the hook has not answered. */
  constructor(hook: WriteHook, onFailure: (error: unknown) => void) {
    this.#hook = hook;
    this.#onFailure = onFailure;
  }

  /** Whether the hook raises a write. `null` if it was not asked: then `askLacking` asks. `digest`: of all of the write. */
  of(digest: string, write: () => AskedWrite): boolean | null {
    const raised = this.#raised.get(digest) ?? null;
    this.#lacking = raised === null ? { digest, write: write() } : null;
    return raised;
  }

  /**
   * Asks what `of` had no answer to. For calls that hold no locks. Returns whether there was anything. Throws `BUSY` if it
   * was asked too often.
   */
  async askLacking(turn: AskingTurn, action: string): Promise<boolean> {
    const lacking = this.#lacking;
    if (lacking === null) return false;
    if (this.#raised.size === asksMax) {
      const reason = `others have changed the files each of the ${asksMax} times that onWrite was asked`;
      throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
    }
    const { digest, write } = lacking;
    this.#raised.set(digest, await turn.askProgram(() => this.#ask(write, turn), { isWaiting: false }));
    this.#lacking = null;
    return true;
  }

  async #ask(write: AskedWrite, { signal }: AskingTurn): Promise<boolean> {
    const hook = this.#hook;
    const until = performance.now() + answerMs;
    try {
      return (await inTime(Promise.resolve(hook(write)), { until, signal, tooLong })) !== "ok";
    } catch (error) {
      signal.throwIfAborted();
      this.#onFailure(error);
      return true;
    }
  }
}

const tooLong = (waitedMs: number): ToolError => new ToolError("BUSY", `onWrite has not answered in ${waitedMs} ms`);

type WriteVerdict = "active" | "pending" | "refused";

/** What becomes of a write with this trust. */
function judgeWrite(trust: OriginClass, { active, pending }: TrustPolicy): WriteVerdict {
  if (isAtLeast(trust, active)) return "active";
  return isAtLeast(trust, pending) ? "pending" : "refused";
}
