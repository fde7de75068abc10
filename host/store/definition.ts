/** What a runtime is given to open a store, and what its threads need to read it. */
import type { MessagePort } from "node:worker_threads";

import type { ManifestTool } from "../../shared/manifest.ts";
import { historyDefaults } from "../values/history-limits.ts";
import type { HistoryLimits } from "../values/history-limits.ts";
import type { UserId } from "../values/ids.ts";
import type { Engine } from "./engine.ts";

/** Plain data from which a thread makes its readers. `open-readers.ts` knows every kind. */
export type StoreLocation = FilesLocation | { readonly kind: "memory" | "postgres" };

export interface FilesLocation {
  readonly kind: "files";
  /** An absolute path. */
  readonly dir: string;
  readonly mounts: readonly MountLocation[];
}

/** A folder that stands for one scope of one user. */
export interface MountLocation {
  readonly userId: UserId;
  readonly scope: string;
  /** An absolute path with all links resolved. */
  readonly dir: string;
}

/**
 * Reports to the operator what was found and repaired. Can name paths inside the data. `owner` is a user's id, or
 * `stores/<uuid>` for a shared store.
 */
export type NoteOfUser = (owner: string, text: string) => void;

/**
 * A store for `createRuntime`, as `fileStore` and `memoryStore` return it. Nothing is opened before the runtime opens
 * it. Its members are the runtime's and can change without notice.
 */
export interface StoreDefinition {
  readonly location: StoreLocation;

  /** Throws a `ToolError` if the medium is not fit for a host, before the store is opened. Default: it is. */
  readonly checkMedium?: () => Promise<void>;

  /** Opens the engine in the main thread. Throws if the medium cannot be used. Default: `defaultSettings`. */
  open(note: NoteOfUser, settings?: StoreSettings): Engine;

  /** Answers the questions of a thread's readers; `null` for a store that threads read directly. */
  readonly answerReads: ((bridge: ReadBridge) => void) | null;

  /**
   * Throws `PLUGIN_REFUSED` for a tool whose scopes are in two parts, or for a part's scope that no tool has. Then
   * `hintFor` says what the program can do about the scope. Default: all fit.
   */
  checkTools?(
    tools: readonly Pick<ManifestTool, "name" | "scopes">[],
    hintFor: (scope: string) => string | undefined,
  ): void;

  /** Throws a `RangeError` if the audit log would be where tools write. Default: it is not. */
  checkLogFile?(file: string): void;

  /** Whether a path is inside the users' data. */
  readonly holdsFile: (file: string) => boolean;
}

/**
 * Lets a thread ask the main thread to read for it, and wait. One per thread, because a thread asks one question at a
 * time.
 */
export interface ReadBridge {
  /** Questions go in, answers come out. */
  readonly port: MessagePort;
  /** Four bytes that change from 0 to 1 when the answer has arrived at the thread's port. */
  readonly signal: SharedArrayBuffer;
}

/** What a runtime says of itself to the store that it opens. */
export interface StoreSettings {
  readonly history: HistoryLimits;
  /** Milliseconds since 1970-01-01 UTC: the clock of the versions. */
  readonly clock: () => number;
}

export const defaultSettings: StoreSettings = { history: historyDefaults, clock: Date.now };
