/** One operation of the data's owner: who asks, what it holds and calls, and what is recorded of it. Nothing else does. */
import type { Role } from "../../shared/roles.ts";
import type { Auditor } from "../audit/collect/auditor.ts";
import type { FoundTool } from "../audit/collect/call-audit.ts";
import type { UpkeepAudit } from "../audit/collect/upkeep-audit.ts";
import type { CallRunner, RunOptions } from "../call/call-runner.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { HeldUser, HoldOptions, Store } from "../store/store.ts";
import { checkContext } from "../values/call-context.ts";
import type { CallContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { ToolResult } from "../values/tool-result.ts";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly auditor: Auditor;
  readonly tools: LoadedTools;
  readonly clock: () => number;
  /** What a call's record tells of a tool that was found. */
  readonly granted: (found: CatalogTool) => FoundTool;
  /** Throws `CLOSED` when the runtime is. */
  readonly checkOpen: (action: string) => void;
}

/** What the audit log calls an operation, and what messages say that it does. */
export type OperationName = readonly [name: string, action: string];

/** Checks who asks; the runtime stays open until the operation has ended, which may take several calls. */
export function operate<Result>(
  parts: UpkeepParts,
  [name, action]: OperationName,
  ctx: CallContext,
  work: (operation: Operation) => Promise<Result>,
): Promise<Result> {
  return parts.auditor.upkeep(name, action, async (audit) => {
    const asked = audit.nameFrom(ctx);
    parts.checkOpen(action);
    return await work(new Operation(parts, { ...checkContext(asked, action), action, audit }));
  });
}

interface Asked extends CheckedContext {
  readonly action: string;
  readonly audit: UpkeepAudit;
}

type CallOptions = Omit<RunOptions, "audit" | "signal">;
type WithScopes = Omit<HoldOptions, "until" | "signal"> & { readonly scopes: readonly string[] };

export class Operation {
  readonly #parts: UpkeepParts;
  readonly #asked: Asked;

  constructor(parts: UpkeepParts, asked: Asked) {
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
    const { action, userId, signal, audit } = this.#asked;
    const label = { action, tool: "store", callId: audit.callId };
    return this.#parts.runner.hold(label, userId, { ...options, signal }, work);
  }

  /** Commits changes of the host's own. They are on record first. */
  commit(held: HeldUser, changes: readonly SizedChange[]): Promise<void> {
    return this.#asked.audit.commit(changes, () => held.commit(changes, held.reader.seen));
  }

  /** A tool's call has a record of its own, under the operation's id. */
  call(found: CatalogTool, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const { runner, auditor, granted } = this.#parts;
    const { userId, signal, audit: ofOperation } = this.#asked;
    const { name } = found.tool;
    return auditor.call(name, `call ${name}`, async (audit) => {
      audit.nameFrom({ userId, callId: ofOperation.callId, labels: ofOperation.labels });
      audit.found(granted(found));
      try {
        return await runner.run(found, input, userId, { ...options, audit, signal });
      } finally {
        if (audit.isCommitted) ofOperation.toolHasCommitted();
      }
    });
  }

  /** The same for a tool with a role. Throws what it has failed with. */
  async ask<Of extends Role>(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    options: CallOptions = {},
  ): Promise<RoleOutput<Of>> {
    return roleAnswer(role, found.tool.name, await this.call(found, input, options));
  }
}
