/** Listeners of the program. A listener cannot alter or stop what it is told, and cannot delay anything after it. */
import { inspect } from "node:util";

import type { CallRecord } from "../audit/collect/call-record.ts";
import type { UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import type { LogSource, LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { movedTo } from "../values/change-set.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { MemoryChange, PendingNotice } from "../values/memory-change.ts";
import type { WaitingId } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";

/** What listeners can be added for, by the name of the runtime's method. */
export interface Told {
  readonly onChange: MemoryChange;
  readonly onPending: PendingNotice;
}

type Method = keyof Told;
type Listener = (told: never) => unknown;

export class Listeners {
  readonly #onLog: (entry: LogEntry) => void;
  /** By registration: a listener that is added twice is called twice, and each registration is removed separately. */
  readonly #added: Readonly<Record<Method, Map<symbol, Listener>>> = { onChange: new Map(), onPending: new Map() };

  constructor(onLog: (entry: LogEntry) => void) {
    this.#onLog = onLog;
  }

  /** Whether anybody listens. */
  isHeard(method: Method): boolean {
    return this.#added[method].size > 0;
  }

  add<Of extends Method>(method: Of, listener: (told: Told[Of]) => void): () => void {
    if (typeof listener !== "function") throw new TypeError(`${method}() needs a function`);
    const key = Symbol("listener");
    const added = this.#added[method];
    added.set(key, listener);
    return () => void added.delete(key);
  }

  /** Calls the present listeners, but none that is removed or added meanwhile. All get the same frozen object. */
  tell<Of extends Method>(method: Of, told: Told[Of], of: LogSource): void {
    const added = this.#added[method];
    const keys = Array.from(added.keys());
    for (const key of keys) this.#tellOne(() => added.get(key)?.(told as never), of);
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

export function changeOf(changes: readonly SizedChange[], record: CallRecord | UpkeepRecord): MemoryChange {
  const files = changes.flatMap((change) => {
    const { scope, path } = change;
    const target = movedTo(change);
    const places = target === null ? [path] : [path, target];
    return places.map((each) => Object.freeze({ scope, path: each }));
  });
  return Object.freeze({ ...record.cause, files: Object.freeze(files) });
}

export const noticeOf = ({ id, expires }: WaitingId, record: CallRecord | UpkeepRecord): PendingNotice =>
  Object.freeze({ ...record.cause, id, expires });

/** A thrown value can be anything, even an object that throws when it is inspected. */
function textOf(thrown: unknown): string {
  try {
    return inspect(thrown);
  } catch {
    return "it threw a value that cannot be shown";
  }
}
