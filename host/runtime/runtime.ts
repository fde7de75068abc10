/** Calls tools: finds the tool, checks who calls, and has the call run. */
import { queueLimits } from "../../shared/limits.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import { Auditor } from "../audit/collect/auditor.ts";
import type { FoundTool } from "../audit/collect/call-audit.ts";
import { CallRunner } from "../call/call-runner.ts";
import { ChangeListeners } from "../call/change-listeners.ts";
import type { ChangeListener } from "../call/change-listeners.ts";
import { causeLines } from "../log/cause-line.ts";
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { pluginFilesOf } from "../plugins/bundled-plugins.ts";
import { judgeCatalog } from "../plugins/catalog.ts";
import type { JudgedCatalog } from "../plugins/catalog.ts";
import { descriptionOf } from "../plugins/describe-tool.ts";
import type { ToolDescription } from "../plugins/describe-tool.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { loweredFuel } from "../plugins/lowered-fuel.ts";
import { loadPolicy } from "../plugins/policy/load-policy.ts";
import { refuseUnfitTools } from "../store/check-mounts.ts";
import { openStore } from "../store/open-store.ts";
import type { Store, StoreLocation } from "../store/store.ts";
import { Pool } from "../thread/pool.ts";
import { LocalUpkeep } from "../upkeep/local-upkeep.ts";
import type { Upkeep } from "../upkeep/upkeep.ts";
import { checkContext } from "../values/call-context.ts";
import type { CallContext } from "../values/call-context.ts";
import type { Refusal } from "../values/refusal.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Runtime, RuntimeOptions } from "./api.ts";
import { FamilyMemory } from "./family-memory.ts";
import { familiesOf } from "./memory-families.ts";
import type { EntryName, EntryText, MemoryEntry, MemoryFamily } from "./memory-families.ts";
import { identityOf, openRuntimeLog } from "./open-runtime-log.ts";
import { checkOptions } from "./runtime-options.ts";
import { toolForHost, toolLabel, unknownTool } from "./unknown-tool.ts";

/**
 * Loads plugins and starts a thread to run them in.
 *
 * Rejects with `PLUGIN_REFUSED` when a file is not exactly what its manifest says or asks for more than the policy grants,
 * or when the policy cannot be used; with `BUSY`, `STORAGE_UNSAFE`, `STORAGE_FULL` or `STORAGE_FAILED` when the audit log
 * cannot be opened; and with a `TypeError` or `RangeError` for options that make no sense.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * await runtime.close();
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { dataDir, mounts, plugins, threadsMax, clock, onLog, durability, waitMs, instances, fuelPolls, ...bounds } =
    checkOptions(options);
  const policy = await loadPolicy(bounds.policy);
  const catalog = await judgeCatalog(await pluginFilesOf(plugins ?? null), policy);
  refuseUnfitTools(catalog.tools.all, mounts);
  const location: StoreLocation = { kind: "files", dataDir, mounts };
  // Before any thread: what refuses the disk leaves none behind.
  const store = openStore(location, {
    durability,
    note: (userId, text) => writeLog(onLog, { level: "warn", tool: "store", userId, callId: "", text }),
  });
  const errors = catalog.plugins.map(({ manifest }) => manifest.errors ?? []);
  const modules = Promise.all(catalog.plugins.map(({ guest }) => guest));
  // A thread takes longer to start than an engine to compile.
  const pool = new Pool(
    { errors, instances, store: location, ...loweredFuel(policy.limits, fuelPolls) },
    { modules, threadsMax, onError: (error) => noteDeadThread(onLog, error) },
  );
  const identities = catalog.plugins.map(identityOf);
  const logParts = { dataDir, plugins: identities, policy: policy.sha256, waitMs, onLog };
  const log = await modules
    .then(() => openRuntimeLog(bounds.auditLog, logParts))
    .catch(async (error: unknown) => {
      await pool.close();
      throw error;
    });
  const waitingLimits = {
    calls: bounds.queuedCallsMax,
    callsPerUser: bounds.queuedCallsPerUserMax,
    bytes: queueLimits.bytesMax,
  };
  const deadlineMs = Math.min(policy.limits.deadlineMs, bounds.deadlineMs ?? Infinity);
  const deadlinesMs = catalog.plugins.map(({ manifest }) => Math.min(manifest.deadlineMs, deadlineMs));
  const { limits } = policy;
  const runner = new CallRunner({ store, pool, clock, onLog, waitMs, waitingLimits, deadlinesMs, limits });
  const listeners = new ChangeListeners(onLog);
  const auditor = new Auditor({ log, onLog, onCommitted: (changes, of) => listeners.tell(changes, of) });
  const { closeGraceMs } = bounds;
  return new LocalRuntime(catalog, { store, runner, auditor, listeners, identities, clock, closeGraceMs });
}

/** A thread that dies between calls is replaced. */
function noteDeadThread(onLog: (entry: LogEntry) => void, error: unknown): void {
  for (const line of causeLines([error])) writeLog(onLog, { ...line, tool: "thread", userId: "", callId: "" });
}

interface RuntimeParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly auditor: Auditor;
  readonly listeners: ChangeListeners;
  /** Of the catalog's plugins. */
  readonly identities: readonly PluginIdentity[];
  readonly clock: () => number;
  readonly closeGraceMs: number;
}

class LocalRuntime implements Runtime {
  readonly #upkeep: LocalUpkeep;
  readonly #memory: FamilyMemory;
  readonly #catalog: JudgedCatalog;
  readonly #runner: CallRunner;
  readonly #auditor: Auditor;
  readonly #identities: readonly PluginIdentity[];
  readonly #closeGraceMs: number;
  readonly #listeners: ChangeListeners;
  #closing: Promise<void> | null = null;

  constructor(
    catalog: JudgedCatalog,
    { store, runner, auditor, listeners, identities, clock, closeGraceMs }: RuntimeParts,
  ) {
    this.#catalog = catalog;
    this.#runner = runner;
    this.#auditor = auditor;
    this.#listeners = listeners;
    this.#identities = identities;
    this.#closeGraceMs = closeGraceMs;
    this.#memory = new FamilyMemory(catalog.tools, (found, input, ctx) =>
      this.#call(found.tool.name, () => found, input, ctx),
    );
    this.#upkeep = new LocalUpkeep({
      store,
      runner,
      auditor,
      tools: catalog.tools,
      clock,
      granted: (found) => this.#granted(found),
      checkOpen: (action) => this.#checkOpen(action),
    });
  }

  get upkeep(): Upkeep {
    return this.#upkeep;
  }

  call(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult> {
    return this.#call(tool, () => this.#forModel(tool), input, ctx);
  }

  callAsHost(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult> {
    return this.#call(tool, () => toolForHost(this.#catalog.tools, tool, this.#identities), input, ctx);
  }

  tools(): ToolDescription[] {
    return this.#catalog.tools.all
      .filter(({ tool }) => tool.audience === "model")
      .map((found) => descriptionOf(found, this.#catalog));
  }

  documentation(tool: string): string | null {
    const found = this.#catalog.tools.forModel(tool);
    if (found === null) throw unknownTool(`document ${toolLabel(tool)}`, this.tools());
    return found.tool.documentation ?? null;
  }

  families(): readonly MemoryFamily[] {
    return familiesOf(this.#catalog.tools);
  }

  get hasMemory(): boolean {
    return this.families().some(({ hasIndex, hasEntries }) => hasIndex || hasEntries);
  }

  memoryIndex(ctx: CallContext, { family }: { readonly family?: string } = {}): Promise<string> {
    return this.#memory.index(ctx, family);
  }

  memoryEntries(ctx: CallContext): Promise<readonly MemoryEntry[]> {
    return this.#memory.entries(ctx);
  }

  readEntry(entry: EntryName, ctx: CallContext): Promise<EntryText> {
    return this.#memory.read(entry, ctx);
  }

  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  refused(refusal: Refusal): void {
    this.#auditor.refused(refusal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #shutDown(): Promise<void> {
    const graceOver = setTimeout(() => this.#runner.cancelAll(), this.#closeGraceMs);
    await this.#auditor.idle();
    clearTimeout(graceOver);
    try {
      await this.#runner.close();
    } finally {
      await this.#auditor.close();
    }
  }

  /** `toolName` is whatever the caller has named; `find` throws where it names none. */
  async #call(toolName: string, find: () => CatalogTool, input: unknown, ctx: CallContext): Promise<ToolResult> {
    const action = `call ${toolLabel(toolName)}`;
    try {
      return await this.#auditor.call(toolName, action, async (audit) => {
        const asked = audit.nameFrom(ctx);
        this.#checkOpen(action);
        const found = find();
        audit.found(this.#granted(found));
        const { userId, signal } = checkContext(asked);
        return await this.#runner.run(found, input, userId, { audit, signal });
      });
    } catch (error) {
      return resultOf(envelopeOf(asToolError(error, action)));
    }
  }

  #forModel(toolName: string): CatalogTool {
    const found = this.#catalog.tools.forModel(toolName);
    if (found === null) throw unknownTool(`call ${toolLabel(toolName)}`, this.tools());
    return found;
  }

  #granted({ tool: { scopes, rights }, moduleIndex }: CatalogTool): FoundTool {
    return { plugin: this.#identities[moduleIndex] ?? null, scopes, rights };
  }

  #checkOpen(action: string): void {
    if (this.#closing) throw new ToolError("CLOSED", `Cannot ${action}: the runtime is closed`);
  }
}
