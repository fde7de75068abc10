import { storeLimits } from "../../shared/limits.ts";
import { parseTrashPath, trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { inspectOutput } from "../../shared/user-memory/inspect.ts";
import { safeParse } from "../../shared/zod.ts";
import type { CallContext } from "../call-context.ts";
import type { CallRunner } from "../call-runner.ts";
import type { CatalogTool } from "../catalog.ts";
import type { Change } from "../change-set.ts";
import type { Store } from "../store/store.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolResult } from "../tool-result.ts";
import { checkUserId } from "../user-id.ts";
import type { UserId } from "../user-id.ts";
import type { Finding, TrashedFile, Upkeep } from "./upkeep.ts";

/** The scope that the doctor and the trash commands look after. */
const scope = "memory";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  /** A tool with the audience `host`. */
  readonly find: (toolName: string) => CatalogTool;
  /** Throws `CLOSED` when the runtime is. */
  readonly checkOpen: (action: string) => void;
}

/** The host's part of looking after files; what the text in them means is asked of the guest. */
export class LocalUpkeep implements Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  async users(): Promise<string[]> {
    this.#parts.checkOpen("list users");
    return this.#parts.store.users().toSorted();
  }

  async inspect(ctx: CallContext): Promise<Finding[]> {
    const userId = this.#userOf(ctx, "inspect a user's files");
    const { runner, find } = this.#parts;
    const options = { writes: false, isLookingOnly: true };
    const ofStore = await runner.hold("inspect", userId, options, async (held) => held.findings());
    const looked = await runner.run(find("InspectMemory"), { mend: false }, userId, { isLookingOnly: true });
    return [...ofStore, ...findingsIn(looked)];
  }

  async mend(ctx: CallContext): Promise<Finding[]> {
    const userId = this.#userOf(ctx, "mend a user's files");
    const { runner, find } = this.#parts;
    // Found before anything is held for writing, which by itself finishes what a crash has left.
    const looking = { writes: false, isLookingOnly: true };
    const before = await runner.hold("mend", userId, looking, async (held) => held.findings());
    const mended = await runner.run(find("InspectMemory"), { mend: true }, userId, { isThorough: true });
    return [...before.filter(({ remedy }) => remedy !== null), ...findingsIn(mended)];
  }

  async listTrash(ctx: CallContext): Promise<TrashedFile[]> {
    const userId = this.#userOf(ctx, "list the trash");
    return await this.#parts.runner.hold("list", userId, { writes: false }, async () => this.#trashOf(userId));
  }

  async restore(ctx: CallContext, name: string): Promise<TrashedFile> {
    const userId = this.#userOf(ctx, "restore an entry");
    const files = await this.listTrash(ctx);
    const file = files.find((each) => each.name === name) ?? files.find(({ path }) => path === `${name}.md`);
    if (!file) throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it is not in the trash`);
    const trashed = `${trashFolder}/${file.name}`;
    const { runner, find } = this.#parts;
    const alsoCommit: Change[] = [{ kind: "remove", scope, path: trashed }];
    throwFailure(await runner.run(find("RestoreEntry"), { trashed }, userId, { alsoCommit }));
    return file;
  }

  async purge(ctx: CallContext, { beforeEpochMs }: { readonly beforeEpochMs: number }): Promise<TrashedFile[]> {
    const userId = this.#userOf(ctx, "purge the trash");
    if (!Number.isFinite(beforeEpochMs)) throw new RangeError(`beforeEpochMs is ${beforeEpochMs}, not milliseconds`);
    const options = { writes: true };
    return await this.#parts.runner.hold("purge", userId, options, async (held) => {
      const old = this.#trashOf(userId).filter(({ epochMs }) => epochMs < beforeEpochMs);
      for (let at = 0; at < old.length; at += storeLimits.changesMax) {
        const part = old.slice(at, at + storeLimits.changesMax);
        await held.commit(
          part.map(({ name }) => ({ kind: "remove", scope, path: `${trashFolder}/${name}` })),
          [],
        );
      }
      return old;
    });
  }

  #userOf(ctx: CallContext, action: string): UserId {
    this.#parts.checkOpen(action);
    return checkUserId((ctx as CallContext | null | undefined)?.userId);
  }

  #trashOf(userId: UserId): TrashedFile[] {
    const listed = this.#parts.store.openUser(userId).list(scope, `${trashFolder}/`);
    const files = listed.flatMap(({ path, bytes }) => {
      const parsed = parseTrashPath(path);
      return parsed ? [{ name: path.slice(trashFolder.length + 1), ...parsed, bytes }] : [];
    });
    return files.toSorted((a, b) => b.epochMs - a.epochMs || (a.name < b.name ? 1 : -1));
  }
}

function findingsIn(result: ToolResult): Finding[] {
  throwFailure(result);
  const parsed = safeParse(inspectOutput, result.ok ? result.data : null);
  if (!parsed.success)
    throw new ToolError("OUTPUT_INVALID", "Cannot use the answer of InspectMemory: it has no findings");
  return parsed.data.findings.map((finding) => Object.assign(finding, { path: `${scope}/${finding.path}` }));
}

function throwFailure(result: ToolResult): void {
  if (!result.ok) throw new ToolError(result.error.code, result.error.message);
}
