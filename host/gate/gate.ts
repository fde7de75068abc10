/** Decides whether a write takes effect, waits for the owner of the memory, or is refused; and keeps those that wait. */
import { hash } from "node:crypto";

import { pendingLimits } from "../../shared/limits.ts";
import { isAtLeast } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isDerivedFile } from "../plugins/family-files.ts";
import type { FamilyFiles } from "../plugins/family-files.ts";
import type { TrustPolicy } from "../plugins/policy/policy.ts";
import { judgeWrite } from "../plugins/policy/trust-policy.ts";
import type { HostRecords } from "../store/host-records.ts";
import { digestOf } from "../store/reading.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import { statedTrust } from "../values/origin.ts";
import type { StatedOrigin } from "../values/origin.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import { pendingChange } from "./pending-write.ts";
import type { PendingChange } from "./pending-write.ts";
import { addPending, pendingMs } from "./pending-writes.ts";
import { HookAnswers, writtenFiles } from "./write-hook.ts";
import type { WriteHook } from "./write-hook.ts";

/** What a call wants to write. */
export interface GatedWrite {
  readonly userId: UserId;
  readonly changes: readonly SizedChange[];
  /** Of stores, as the guest wants them; `null` if they do not change. */
  readonly grants: unknown;
  readonly facts: WriteFacts;
  /** What the gate judges by. */
  readonly trust: OriginClass;
  readonly policy: TrustPolicy;
  /** Which files its plugin makes from others. */
  readonly files: FamilyFiles;
  /** The action in messages. */
  readonly action: string;
  /** Why it cannot wait, as a clause; `null` if it can. */
  readonly whyNot: string | null;
}

/** The call of a write that waits. */
export interface WaitingCall {
  readonly action: string;
  /** JSON text. */
  readonly input: string;
  /** The time that the guest was given. */
  readonly epochMs: number;
  readonly facts: WriteFacts;
  readonly changes: readonly PendingChange[];
}

/** An approval of a write that has waited. */
export interface AskedApproval extends Pick<GatedWrite, "action" | "whyNot"> {
  /** Of the approval, not of the write. */
  readonly origin: StatedOrigin;
}

export class Gate {
  readonly #hook: WriteHook | null;
  readonly #onHookFailure: (error: unknown) => void;

  /** `hook`: the program's; `null` if there is none. `onHookFailure`: for the operator. */
  constructor(hook: WriteHook | null, onHookFailure: (error: unknown) => void) {
    this.#hook = hook;
    this.#onHookFailure = onHookFailure;
  }

  /** What the program's hook says of the writes of a call; `null` if there is no hook. */
  newAnswers(): HookAnswers | null {
    return this.#hook && new HookAnswers(this.#hook, this.#onHookFailure);
  }

  /**
   * Whether a write waits; `null` if `answers` lacks the hook's. `shown`: the changes as they are shown. Throws
   * `WRITE_REFUSED` if it neither takes effect nor can wait.
   */
  async waits(
    write: GatedWrite,
    answers: HookAnswers | null,
    shown: () => Promise<readonly PendingChange[]>,
  ): Promise<boolean | null> {
    const { policy, trust, action, whyNot } = write;
    const verdict = judgeWrite(trust, policy);
    if (verdict === "refused") {
      const allowed = `the policy allows ${policy.pending} and above`;
      throw refused(action, `the trust of its text is ${trust}, ${allowed}`);
    }
    const waits =
      verdict === "pending" ||
      (answers !== null && answers.of(digestOfWrite(write, await shown()), () => askedWrite(write)));
    if (waits === true && whyNot !== null)
      throw refused(action, `it would have to wait for the owner of the memory, and ${whyNot}`);
    return waits;
  }

  /**
   * Throws `WRITE_REFUSED` if not the owner approves, or if the write could not have waited: then what is approved was
   * not shown.
   */
  checkApproval({ origin, action, whyNot }: AskedApproval): void {
    if (whyNot !== null) throw refused(action, `it cannot be approved: ${whyNot}`);
    const trust = statedTrust(origin);
    if (!origin.told || isAtLeast(trust, "direct_user")) return;
    throw refused(action, `the trust of its approval is ${trust}, allowed: direct_user and above, or no origin`);
  }
}

const refused = (action: string, why: string): ToolError => new ToolError("WRITE_REFUSED", `Cannot ${action}: ${why}`);

/**
 * The same for two writes only if the hook would be shown the same, made from the same files. As for an approval, what a
 * plugin makes from its other files can differ: it repeats them. It counts if nothing else is written.
 */
function digestOfWrite({ facts, files, grants }: GatedWrite, shown: readonly PendingChange[]): string {
  const ofEntries = shown.filter((change) => !isDerivedFile(files, change));
  const changes = ofEntries.length === 0 ? shown : ofEntries;
  return hash("sha256", JSON.stringify([facts.class, facts.trust, changes, grants]));
}

function askedWrite({ userId, changes, facts }: GatedWrite): Parameters<WriteHook>[0] {
  const { tool, plugin, trust, run, turn, source } = facts;
  const origin = { class: facts.class, run, turn, source };
  return { userId, tool: tool ?? "", plugin: plugin ?? "", origin, trust, files: writtenFiles(changes) };
}

/** The changes as they are shown, with what their files are now. */
export async function shownChanges(
  changes: readonly SizedChange[],
  bytesOf: (scope: string, path: string) => Promise<Uint8Array | null>,
): Promise<PendingChange[]> {
  const shown: PendingChange[] = [];
  for (const change of changes) {
    const present = await bytesOf(change.scope, change.path);
    shown.push(pendingChange(change, digestOf(present && Buffer.from(present))));
  }
  return shown;
}

/** Stages a write that waits. Returns the failure that its caller gets once it is durable: nothing else has changed. */
export async function stagePending(
  records: HostRecords,
  { action, input, epochMs, facts, changes }: WaitingCall,
): Promise<ToolError> {
  const { tool, plugin, class: of, trust, run, turn, source, callId, atMs } = facts;
  const named = { tool: tool ?? "", plugin: plugin ?? "", callId: callId ?? "" };
  const pending = { atMs, epochMs, ...named, input, class: of, trust, run, turn, source, changes: [...changes] };
  const write = await addPending(records, pending, { action });
  const message =
    `Saved as a suggestion (${write.id}), not yet as memory: the trust of its text is ${trust}, ` +
    `so the user has to approve it within ${pendingLimits.days} days. Do not retry`;
  return new ToolError("WRITE_PENDING", message, {
    pending: { id: write.id, expires: new Date(write.atMs + pendingMs).toISOString() },
  });
}
