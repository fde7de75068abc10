/** Listeners for committed changes. A listener cannot alter or stop a change, and cannot delay anything after it. */
import { inspect } from "node:util";

import type { LogSource, LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { movedTo } from "../values/change-set.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryChange } from "../values/memory-change.ts";
import type { UserId } from "../values/user-id.ts";

export type ChangeListener = (change: MemoryChange) => void;

export class ChangeListeners {
  readonly #onLog: (entry: LogEntry) => void;
  /** By registration: a listener that is added twice is called twice, and each registration is removed separately. */
  readonly #listeners = new Map<symbol, ChangeListener>();

  constructor(onLog: (entry: LogEntry) => void) {
    this.#onLog = onLog;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: ChangeListener): () => void {
    if (typeof listener !== "function") throw new TypeError("onChange() needs a function");
    const key = Symbol("listener");
    this.#listeners.set(key, listener);
    return () => void this.#listeners.delete(key);
  }

  /** Calls the present listeners, but none that is removed or added meanwhile. */
  tell(changes: readonly SizedChange[], of: LogSource): void {
    if (this.isEmpty) return;
    const change = frozenChange(of.userId, changes);
    const keys = Array.from(this.#listeners.keys());
    for (const key of keys) this.#tellOne(() => this.#listeners.get(key)?.(change), of);
  }

  /** A listener for changes of one user that are made elsewhere. */
  guarded(listener: () => void, userId: UserId): () => void {
    if (typeof listener !== "function") throw new TypeError("onChangeElsewhere() needs a function");
    return () => this.#tellOne(listener, { tool: "store", userId, callId: "" });
  }

  #tellOne(listener: () => unknown, of: LogSource): void {
    try {
      const returned = listener();
      // Nothing awaits an `async` listener, and an unhandled rejection would end the process.
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#note(error, of));
    } catch (error) {
      this.#note(error, of);
    }
  }

  #note(error: unknown, of: LogSource): void {
    writeLog(this.#onLog, { level: "error", ...of, text: `host: a listener for changes failed: ${textOf(error)}` });
  }
}

/** All listeners get the same frozen object. */
function frozenChange(userId: string, changes: readonly SizedChange[]): MemoryChange {
  const files = changes.flatMap((change) => {
    const { scope, path } = change;
    const target = movedTo(change);
    const places = target === null ? [path] : [path, target];
    return places.map((each) => Object.freeze({ scope, path: each }));
  });
  return Object.freeze({ userId, files: Object.freeze(files) });
}

/** A thrown value can be anything, even an object that throws when it is inspected. */
function textOf(thrown: unknown): string {
  try {
    return inspect(thrown);
  } catch {
    return "it threw a value that cannot be shown";
  }
}
