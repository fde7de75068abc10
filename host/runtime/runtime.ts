/** Creates runtimes. A runtime finds the tool of a call and passes the call to the `CallRunner`. */
import { queueLimits } from "../../shared/limits.ts";
import { Recorder } from "../audit/collect/recorder.ts";
import { Admission } from "../call/admission.ts";
import { CallRunner } from "../call/call-runner.ts";
import type { CallRunnerParts } from "../call/call-runner.ts";
import { ChangeListeners } from "../call/change-listeners.ts";
import type { ChangeListener } from "../call/change-listeners.ts";
import { OwnWork } from "../call/own-work.ts";
import { causeLines } from "../log/cause-line.ts";
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { pluginFilesOf } from "../plugins/bundled-plugins.ts";
import { judgeCatalog } from "../plugins/catalog.ts";
import type { JudgedCatalog } from "../plugins/catalog.ts";
import { descriptionOf } from "../plugins/describe-tool.ts";
import type { ToolDescription } from "../plugins/describe-tool.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { toolForHost, toolLabel, unknownTool } from "../plugins/loaded-tools.ts";
import { loweredFuel } from "../plugins/lowered-fuel.ts";
import { loadPolicy } from "../plugins/policy/load-policy.ts";
import { isOffered } from "../plugins/tool-commands.ts";
import type { Caller } from "../plugins/tool-commands.ts";
import { withOwnStores } from "../sharing/own-store.ts";
import { Pool } from "../thread/pool.ts";
import { LocalUpkeep } from "../upkeep/local-upkeep.ts";
import type { Upkeep } from "../upkeep/upkeep.ts";
import type { CallContext } from "../values/call-context.ts";
import type { Refusal } from "../values/refusal.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Runtime } from "./api.ts";
import { FamilyMemory } from "./family-memory.ts";
import { familiesOf } from "./memory-families.ts";
import type { EntryName, EntryText, FamilyChoice, MemoryEntry, MemoryFamily } from "./memory-families.ts";
import { identityOf, openRuntimeLog } from "./open-runtime-log.ts";
import type { RuntimeOptions } from "./options.ts";
import { checkOptions } from "./runtime-options.ts";
import { LocalUserStores } from "./user-stores.ts";
import type { UserStores } from "./user-stores.ts";

/**
 * Loads plugins and starts a thread that runs them.
 *
 * Rejects with `PLUGIN_REFUSED` if a file is not exactly what its manifest says, if it requests more than the policy
 * grants, or if the policy cannot be used; with `BUSY`, `STORAGE_UNSAFE`, `STORAGE_FULL` or `STORAGE_FAILED` if the
 * audit log cannot be opened; and with a `TypeError` or `RangeError` for invalid options.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * await runtime.close();
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const {
    store: definition,
    plugins,
    threadsMax,
    clock,
    onLog,
    waitMs,
    instances,
    fuelPolls,
    ...bounds
  } = checkOptions(options);
  const policy = await loadPolicy(bounds.policy);
  const catalog = await judgeCatalog(await pluginFilesOf(plugins ?? null), policy);
  definition.checkTools(catalog.tools.all.map(({ tool }) => tool));
  // Before any thread starts, so that a store that cannot be opened leaves no thread behind.
  const note = (userId: string, text: string): void =>
    writeLog(onLog, { level: "warn", tool: "store", userId, callId: "", text });
  const store = withOwnStores(definition.open(note));
  const errors = catalog.plugins.map(({ manifest }) => manifest.errors ?? []);
  const modules = Promise.all(catalog.plugins.map(({ guest }) => guest));
  // The pool starts before the modules are compiled: a thread takes longer to start than a module to compile.
  const pool = new Pool(
    { errors, instances, store: definition.location, ...loweredFuel(policy.limits, fuelPolls) },
    {
      modules,
      threadsMax,
      isWarm: bounds.warmThreads,
      answerReads: definition.answerReads,
      onError: (error) => noteDeadThread(onLog, error),
    },
  );
  const identities = catalog.plugins.map(identityOf);
  const logParts = { isAmongUsers: definition.holdsFile, plugins: identities, policy: policy.sha256, waitMs, onLog };
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
  const listeners = new ChangeListeners(onLog);
  const recorder = new Recorder({ log, onLog });
  const admission = new Admission(waitMs, waitingLimits);
  const { contextualAccess, memory } = bounds;
  const called = { clock, onLog, identities, deadlinesMs, limits, contextualAccess: contextualAccess ?? null };
  const parts = { store, pool, admission, recorder, listeners, ...called };
  const model = memory?.sharingByModels === true ? "sharing-model" : "model";
  const { closeGraceMs, retiresLeftOver } = bounds;
  if (retiresLeftOver) void store.retireLeftOver();
  const own = new OwnWork(parts);
  return new LocalRuntime(catalog, { ...parts, own, runner: new CallRunner(parts, own), model, closeGraceMs });
}

/** Logs why a thread died between calls. The pool replaces it. */
function noteDeadThread(onLog: (entry: LogEntry) => void, error: unknown): void {
  for (const line of causeLines([error])) writeLog(onLog, { ...line, tool: "thread", userId: "", callId: "" });
}

interface RuntimeParts extends Pick<
  CallRunnerParts,
  "store" | "admission" | "recorder" | "listeners" | "identities" | "clock" | "onLog" | "contextualAccess"
> {
  readonly own: OwnWork;
  readonly runner: CallRunner;
  /** What models are offered. */
  readonly model: Caller;
  readonly closeGraceMs: number;
}

class LocalRuntime implements Runtime {
  readonly #upkeep: LocalUpkeep;
  readonly #memory: FamilyMemory;
  readonly #families: readonly MemoryFamily[];
  readonly #catalog: JudgedCatalog;
  readonly #parts: RuntimeParts;
  #closing: Promise<void> | null = null;

  constructor(catalog: JudgedCatalog, parts: RuntimeParts) {
    this.#catalog = catalog;
    this.#parts = parts;
    this.#families = familiesOf(catalog.tools);
    this.#memory = new FamilyMemory(catalog.tools, parts);
    this.#upkeep = new LocalUpkeep({ ...parts, tools: catalog.tools });
  }

  get upkeep(): Upkeep {
    return this.#upkeep;
  }

  stores(ctx: CallContext): UserStores {
    return new LocalUserStores({ ...this.#parts, tools: this.#catalog.tools }, ctx);
  }

  call(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult> {
    const { model: caller } = this.#parts;
    return this.#call({ tool, recorded: tool, caller }, () => this.#forModel(tool), input, ctx);
  }

  callAsHost(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult> {
    const { tools } = this.#catalog;
    // A program can name a tool with its plugin. The record names the plugin anyway.
    const recorded = tools.forHost(tool)[0]?.tool.name ?? tool;
    const lookUp = (): CatalogTool => toolForHost(tools, tool, this.#parts.identities);
    return this.#call({ tool, recorded, caller: "host" }, lookUp, input, ctx);
  }

  tools(): ToolDescription[] {
    const { model } = this.#parts;
    return this.#catalog.tools.all
      .filter(({ tool }) => isOffered(tool, model))
      .map((found) => descriptionOf(found, this.#catalog, model));
  }

  documentation(tool: string): string | null {
    const found = this.#catalog.tools.forModel(tool);
    if (found === null) throw unknownTool(`document ${toolLabel(tool)}`, this.tools());
    return found.tool.documentation ?? null;
  }

  families(): readonly MemoryFamily[] {
    return this.#families;
  }

  get hasMemory(): boolean {
    return this.#families.length > 0;
  }

  memoryIndex(ctx: CallContext, options?: FamilyChoice): Promise<string> {
    return this.#memory.index(ctx, options);
  }

  memoryEntries(ctx: CallContext, options?: FamilyChoice): Promise<readonly MemoryEntry[]> {
    return this.#memory.entries(ctx, options);
  }

  readEntry(entry: EntryName, ctx: CallContext): Promise<EntryText> {
    return this.#memory.read(entry, ctx);
  }

  onChange(listener: ChangeListener): () => void {
    return this.#parts.listeners.add(listener);
  }

  refused(refusal: Refusal): void {
    this.#parts.recorder.refused(refusal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #shutDown(): Promise<void> {
    const { runner, recorder, closeGraceMs } = this.#parts;
    try {
      await runner.close(closeGraceMs);
    } finally {
      recorder.close();
    }
  }

  /** `tool` is what the caller passed; `lookUp` throws if there is no such tool. */
  async #call(
    { tool, recorded, caller }: { readonly tool: string; readonly recorded: string; readonly caller: Caller },
    lookUp: () => CatalogTool,
    input: unknown,
    ctx: CallContext,
  ): Promise<ToolResult> {
    const action = `call ${toolLabel(tool)}`;
    const { runner, admission } = this.#parts;
    const find = (): CatalogTool => {
      admission.checkOpen(action);
      return lookUp();
    };
    return (await runner.call({ toolName: recorded, action, find, caller, input, ctx })).result;
  }

  #forModel(toolName: string): CatalogTool {
    const found = this.#catalog.tools.forModel(toolName);
    if (found === null || !isOffered(found.tool, this.#parts.model))
      throw unknownTool(`call ${toolLabel(toolName)}`, this.tools());
    return found;
  }
}
