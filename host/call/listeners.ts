/** Listeners of the program. A listener cannot alter or stop what it is told, and cannot delay anything after it. */
import { inspect } from "node:util";

import type { OperationRecord } from "../audit/collect/record.ts";
import type { LogSource, LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { movedTo } from "../values/change-set.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import type { MemoryChange, PendingNotice } from "../values/memory-change.ts";
import type { WaitingId } from "../values/tool-error.ts";

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
  /** What listeners are told at the end of a user's turn, by user. */
  readonly #untold = new Map<string, readonly (() => void)[]>();

  constructor(onLog: (entry: LogEntry) => void) {
    this.#onLog = onLog;
  }

  add<Of extends Method>(method: Of, listener: (told: Told[Of]) => void): () => void {
    if (typeof listener !== "function") throw new TypeError(`${method}() needs a function`);
    const key = Symbol("listener");
    const added = this.#added[method];
    added.set(key, listener);
    return () => void added.delete(key);
  }

  /** Tells of a commit when nothing is held any more, before the user's next turn. */
  changed(changes: readonly SizedChange[], record: OperationRecord): void {
    if (!this.isHeard) return;
    const files = changes.flatMap((change) => {
      const { scope, path } = change;
      const target = movedTo(change);
      const places = target === null ? [path] : [path, target];
      return places.map((each) => Object.freeze({ scope, path: each }));
    });
    this.#later("onChange", Object.freeze({ ...record.cause, files: Object.freeze(files) }), record);
  }

  /** The same for a write that waits. */
  tellWaiting({ id, expires }: WaitingId, record: OperationRecord): void {
    this.#later("onPending", Object.freeze({ ...record.cause, id, expires }), record);
  }

  /** Whether anybody listens for changes. */
  get isHeard(): boolean {
    return this.#added.onChange.size > 0;
  }

  /** Tells what there is to tell of a user. */
  tellOf(userId: UserId): void {
    const untold = this.#untold.get(userId);
    if (untold === undefined) return;
    this.#untold.delete(userId);
    for (const tell of untold) tell();
  }

  /** A listener for changes of one user that are made elsewhere. */
  guarded(listener: () => void, userId: UserId): () => void {
    if (typeof listener !== "function") throw new TypeError("onChangeElsewhere() needs a function");
    return () => this.#tellOne(listener, { tool: "store", userId, callId: "" });
  }

  /** Calls the listeners that are there then, but none that is removed or added meanwhile. */
  #later<Of extends Method>(method: Of, told: Told[Of], { source }: OperationRecord): void {
    const added = this.#added[method];
    const tell = (): void => {
      for (const key of Array.from(added.keys())) this.#tellOne(() => added.get(key)?.(told as never), source);
    };
    this.#untold.set(source.userId, [...(this.#untold.get(source.userId) ?? []), tell]);
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
    let text = "it threw a value that cannot be shown";
    try {
      text = inspect(error);
    } catch {
      // A thrown value can be anything, even an object that throws when it is inspected.
    }
    writeLog(this.#onLog, { level: "error", ...of, text: `host: a listener for changes failed: ${text}` });
  }
}
