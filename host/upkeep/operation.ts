/** One operation of the data's owner: who asks, what it holds and calls, and what is recorded of it. Nothing else does. */
import { callLimits } from "../../shared/limits.ts";
import type { Role } from "../../shared/roles.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import type { Admission } from "../call/admission.ts";
import type { CallOptions, HostWork } from "../call/asked-call.ts";
import type { CallRunner } from "../call/call-runner.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { HeldUser, HoldOptions, Store } from "../store/store.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { CallContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import { asToolError } from "../values/tool-error.ts";
import type { ToolError } from "../values/tool-error.ts";
import type { ToolResult } from "../values/tool-result.ts";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly recorder: Recorder;
  readonly admission: Admission;
  readonly tools: LoadedTools;
  readonly clock: () => number;
}

/** What the audit log calls an operation, and what messages say that it does. */
export type OperationName = readonly [name: string, action: string];

/** Checks who asks; the runtime stays open until the operation has ended, which may take several calls. */
export async function operate<Result>(
  parts: UpkeepParts,
  [name, action]: OperationName,
  ctx: CallContext,
  work: (operation: Operation) => Promise<Result>,
): Promise<Result> {
  const { admission, recorder } = parts;
  using _arrived = admission.arrive();
  const context = readContext(ctx);
  const record = recorder.beginUpkeep(name, action, context);
  const outcome = await outcomeOf(action, async () => {
    admission.checkOpen(action);
    return await work(new Operation(parts, { ...checkContext(context, action), action, record }));
  });
  const withheld = record.end("failure" in outcome ? outcome.failure : null);
  if (withheld) throw withheld;
  if ("failure" in outcome) throw outcome.failure;
  return outcome.result;
}

type Outcome<Result> = { readonly result: Result } | { readonly failure: ToolError };

async function outcomeOf<Result>(action: string, work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { result: await work() };
  } catch (error) {
    return { failure: asToolError(error, action) };
  }
}

type WithScopes = Omit<HoldOptions, "until" | "signal"> & { readonly scopes: readonly string[] };

/** `accepts` may throw, before anything is committed. */
type AskOptions<Of extends Role> = Omit<CallOptions, "accepts"> & {
  readonly accepts?: (answer: RoleOutput<Of>, changes: readonly SizedChange[]) => void;
};

export class Operation {
  readonly #parts: UpkeepParts;
  readonly #asked: HostWork;

  constructor(parts: UpkeepParts, asked: HostWork) {
    this.#parts = parts;
    this.#asked = asked;
  }

  get tools(): LoadedTools {
    return this.#parts.tools;
  }

  now(): number {
    return this.#parts.clock();
  }

  /** The same, which its caller cannot cancel any more. */
  uncancelled(): Operation {
    return new Operation(this.#parts, { ...this.#asked, signal: undefined });
  }

  /** The user's scopes by what is held as one, each part with the scopes to hold it by. */
  async parts(): Promise<(readonly string[])[]> {
    return (await this.#parts.store.parts(this.#asked.userId)).map(({ scopes }) => scopes);
  }

  /** Does the host's own work on the files of a part. */
  hold<Result>(options: WithScopes, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return this.#parts.runner.hold(this.#asked, options, work);
  }

  /** Commits changes of the host's own. They are on record first. */
  commit(held: HeldUser, changes: readonly SizedChange[]): Promise<void> {
    return this.#parts.runner.commit({ changes, seen: held.reader.seen }, held, this.#asked.record);
  }

  /** A tool's call has a record of its own, under the operation's id. */
  async call(found: CatalogTool, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const { userId, signal, record } = this.#asked;
    const toolName = found.tool.name;
    const ctx = { userId, signal, callId: record.callId, labels: record.labels ?? undefined };
    // The policy bounds what callers bring. What the host asks itself grows with the user's files.
    const { inputBytesMax } = callLimits;
    const asked = { toolName, action: `call ${toolName}`, find: () => found, input, inputBytesMax, ctx };
    const { result, isCommitted } = await this.#parts.runner.call(asked, options);
    if (isCommitted) record.toolHasCommitted();
    return result;
  }

  /** The same for a tool with a role. Throws what it has failed with; an answer that is none of the role commits nothing. */
  async ask<Of extends Role>(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    { accepts, ...options }: AskOptions<Of> = {},
  ): Promise<RoleOutput<Of>> {
    const answerOf = (result: ToolResult): RoleOutput<Of> => roleAnswer(role, found.tool.name, result);
    const judge: CallOptions["accepts"] = (success, changes) => {
      const answer = answerOf(success);
      accepts?.(answer, changes);
    };
    return answerOf(await this.call(found, input, { ...options, accepts: judge }));
  }
}
