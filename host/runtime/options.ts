/** The options of `createRuntime`, which `index.ts` exports. */
import type { AuditLogOptions } from "../audit/audit-log.ts";
import type { MeterProvider } from "../audit/collect/open-telemetry.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { PolicyFile } from "../plugins/policy/policy-schema.ts";
import type { StoreDefinition } from "../store/definition.ts";
import type { ContextualAccess, WriteHook } from "../values/asked-program.ts";
import type { Mount } from "../values/mount.ts";

export interface RuntimeOptions {
  /**
   * Where users' memory is kept: the result of `fileStore` or `memoryStore`. Pass either this or `dataDir`; both or
   * neither is a `TypeError`.
   *
   * @example
   * const runtime = await createRuntime({ store: memoryStore() });
   */
  readonly store?: StoreDefinition;
  /** Short for `store: fileStore({ dir: dataDir, mounts, durability })`: the folder that holds `users/`. */
  readonly dataDir?: string;
  /** Only with `dataDir`; see `fileStore`. Each mount is a folder that serves as one scope of one user. */
  readonly mounts?: readonly Mount[];
  /**
   * Plugin files, or names of plugins in the package, such as `journal`: what has a dot or a slash is a file. Default: `["user-memory"]`.
   * A model gets the tools of all of them, and a prompt their indexes. `runtime.upkeep` reads the content of their files
   * alone, so a program that maintains a data folder names every plugin that has files there. A name that the package
   * does not have is `PLUGIN_REFUSED`.
   *
   * @example
   * const runtime = await createRuntime({ dataDir: "data", plugins: ["user-memory", "journal"] });
   */
  readonly plugins?: readonly string[];
  /**
   * What the host is willing to grant: a policy file, or an object of the same form. Default: the policy in the
   * package. It grants what the tools of the package need and nothing to any other plugin, and it pins the plugin
   * files.
   *
   * A plugin, tool, right or scope that the policy does not name is not granted. A tool that requests it is not
   * available, or, in a strict policy, its plugin is `PLUGIN_REFUSED`; `onLog` gets a line for each thing that is taken
   * away. If the policy cannot be used (missing, wrong form, a limit above the host's own), every plugin is refused. A tool that requests less than the policy allows gets only what it requests. Of the limits in policy, plugin
   * and these options, the lowest counts. `memcell audit FILE --propose` prints a policy for your own plugin.
   *
   * @example
   * const runtime = await createRuntime({ dataDir: "data", plugins: ["notes.wasm"], policy: "policy.json" });
   */
  readonly policy?: string | PolicyFile;
  /**
   * Whether the runtime changes nothing. Then only tools and commands are available whose rights are all among `read`,
   * `list`, `clock`, `search` and `grant_list`, for models and for programs, and nothing is written into users' folders
   * and shared stores, not even by `upkeep` and `stores`: what would change something is `READ_ONLY`. A change that a
   * crash has interrupted is not finished; a call that would see it is `STORAGE_FAILED`. The audit log is written. Default
   * `false`.
   *
   * @example
   * const runtime = await createRuntime({ dataDir: "data", readOnly: true });
   */
  readonly readOnly?: boolean;
  /** Threads that run guests. Default: one for each core. */
  readonly threadsMax?: number;
  /**
   * Whether all threads are started at once, and one more, which stands by for a thread that has to be terminated: for
   * servers, which pay 34 MB for each. Default `false`: the first thread at once, the others when they are needed.
   */
  readonly warmThreads?: boolean;
  /** Only with `dataDir`; see `fileStore`. Default: `full`. */
  readonly durability?: "full" | "relaxed";
  /**
   * How long a call may wait for its turn: for the same user's earlier calls, for other processes that use the same
   * data folder, for a thread, and for `contextualAccess`. Milliseconds, 1 to 2^31 - 1; default 30,000. A call that
   * waits longer is `BUSY`. If a thread has to start first, the call waits 1.5 seconds for it in any case. If none can
   * start, the call is `INTERNAL`, and `onLog` gets the cause.
   */
  readonly waitMs?: number;
  /**
   * Which plugin instance serves a call. `restored`, the default: a thread keeps one instance of each plugin, and
   * before each call restores it to its state before any code ran. `fresh`: every call gets a new instance, which costs
   * four times the CPU time. A guest cannot tell the difference, and in both cases it finds nothing from an earlier
   * call.
   */
  readonly instances?: "restored" | "fresh";
  /**
   * How long a guest may run, from the moment its thread begins with the call: waiting time does not count. It can only
   * lower the limit of the plugin's manifest and the policy (10,000). Milliseconds, 1 to 2^31 - 1. When the time is
   * over, the guest is stopped, and the call is `DEADLINE_EXCEEDED`. Other calls are not affected.
   */
  readonly deadlineMs?: number;
  /** The guest's computing budget, in polls of its engine. Can only lower the limit of manifest and policy. From 1. */
  readonly fuelPolls?: number;
  /**
   * How many calls may wait in total; running calls do not count. From 1; default 1,024. When the queue is full, the
   * newest call of the user with the most waiting calls is `BUSY`, so that one user's flood does not block others. A
   * new call that would make its own user's queue as long as the longest one is `BUSY` itself. The inputs of waiting
   * calls may take up to 64 MiB, by the same rule.
   */
  readonly queuedCallsMax?: number;
  /** How many calls of one user may wait. From 1; default 128. Further calls are `BUSY` at once. */
  readonly queuedCallsPerUserMax?: number;
  /**
   * How long `close()` lets calls continue before it cancels them. Milliseconds, 1 to 2^31 - 1; default 10,000.
   */
  readonly closeGraceMs?: number;
  /** The clock for `created`, `updated` and trash stamps, in milliseconds since 1970-01-01 UTC. Default: `Date.now`. */
  readonly clock?: () => number;
  /**
   * Where calls are recorded. Default: nowhere. Each call has a record: who called which tool of which plugin file, and
   * what it was granted, read, changed and was denied. A record never contains the content of files, inputs or answers.
   * See `AuditLogOptions`.
   *
   * A call whose record cannot be written fails with `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` and commits
   * nothing. Changes are recorded before they are committed. If only the final record of a call cannot be written, the call still
   * succeeds: it is durable, and the log already has all its changes.
   */
  readonly auditLog?: AuditLogOptions;
  /**
   * Says which shared stores a user reaches without a grant, such as a chat's. It is asked for each store that a call or
   * its context names, and again before the call's result counts. With it, the stores of `ctx.stores` count only as long
   * as it agrees. Default: `ctx.stores` alone decide. See `ContextualAccess`.
   */
  readonly contextualAccess?: ContextualAccess;
  /**
   * Looks at each write of a call before it takes effect, and can make it wait for the owner of the memory: a detector,
   * or a rule of your own. Default: the policy alone decides. See `WriteHook`.
   */
  readonly onWrite?: WriteHook;
  /**
   * Of tools that share stores. `sharingByModels`: whether models are offered what changes grants, such as the commands
   * `share` and `unshare`; programs always can use it. Default `false`: a text that a model has read could make it
   * share the user's store.
   */
  readonly memory?: { readonly sharingByModels?: boolean };
  /**
   * Whether to finish and retire, in the background from the start on, what processes have left that ended without
   * `close()`. Default `true`. Otherwise that is done for a user when the user is next used.
   */
  readonly retiresLeftOver?: boolean;
  /**
   * Where the runtime reports how many calls there are, how they end and how long they take: a `MeterProvider` of
   * OpenTelemetry. Default: that of the SDK that is registered when the runtime is created, if there is one. No metric
   * names a user or has any content.
   */
  readonly meterProvider?: MeterProvider;
  /**
   * Receives guests' log lines and the causes of host failures. It is called at once, also while files are held, and is
   * not awaited: what takes it long delays the whole process. Exceptions from it, and promises that it rejects, are
   * ignored. Default: no log.
   */
  readonly onLog?: (entry: LogEntry) => void;
}
