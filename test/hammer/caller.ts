/** One of many callers: it uses its own entries in shared folders, and knows the right answer of each call. */
import type { Runtime, ToolResult } from "memcell";

export const usersCount = 20;

/** An entry as its caller last stored it. */
export interface OwnEntry {
  readonly userId: string;
  readonly name: string;
  readonly body: string;
  /** From the first read after its creation. */
  readonly created: string | null;
}

export interface CallerReport {
  readonly calls: Record<string, number>;
  /** How long each call took, in milliseconds. */
  readonly waits: readonly number[];
  readonly faults: readonly string[];
  readonly alive: readonly OwnEntry[];
  readonly trashed: readonly (OwnEntry & { readonly path: string })[];
}

const life = ["create", "read", "replace", "readMissing", "replace", "read", "replace", "deleteMissing"] as const;
/** Half of the calls change something. Few delete, because deleted files stay in the trash and count there. */
const lifeOfEntry = [...life, "replace", "read", "read", "delete"] as const;
type Kind = (typeof lifeOfEntry)[number];

export const describe = (userId: string, name: string): string => `${name} of ${userId}`;

/** Makes the calls one after the other. `id` is unique among all callers of all processes. */
export async function makeCalls(runtime: Runtime, id: string, callsCount: number): Promise<CallerReport> {
  const caller = new Caller(runtime, id);
  for (let at = 0; at < callsCount; at++) await caller.call(lifeOfEntry[at % lifeOfEntry.length] ?? "read");
  return caller.report();
}

class Caller {
  readonly #runtime: Runtime;
  readonly #id: string;
  readonly #calls: Record<string, number> = {};
  readonly #waits: number[] = [];
  readonly #faults: string[] = [];
  readonly #trashed: (OwnEntry & { path: string })[] = [];
  #entry: OwnEntry | null = null;
  #count = 0;

  constructor(runtime: Runtime, id: string) {
    this.#runtime = runtime;
    this.#id = id;
  }

  async call(kind: Kind): Promise<void> {
    this.#calls[kind] = (this.#calls[kind] ?? 0) + 1;
    const startMs = performance.now();
    const fault = await this.#perform(kind);
    this.#waits.push(performance.now() - startMs);
    if (fault !== null) this.#faults.push(`${this.#id}, call ${this.#count}, ${kind}: ${fault}`);
  }

  report(): CallerReport {
    const alive = this.#entry ? [this.#entry] : [];
    return { calls: this.#calls, waits: this.#waits, faults: this.#faults, alive, trashed: this.#trashed };
  }

  /** Returns why the answer is wrong, or `null`. */
  async #perform(kind: Kind): Promise<string | null> {
    const count = ++this.#count;
    if (kind === "create") this.#entry = this.#newEntry(count);
    const entry = this.#entry;
    if (entry === null) return "there is no entry";
    switch (kind) {
      case "create":
        return faultOf(await this.#upsert(entry), { outcome: "created", trashed: null });
      case "replace": {
        const replaced = { ...entry, body: this.#bodyOf(count) };
        this.#entry = replaced;
        return faultOf(await this.#upsert(replaced), { outcome: "replaced", trashed: null });
      }
      case "read":
        return this.#read(entry);
      case "delete":
        return this.#delete(entry);
      case "readMissing":
      case "deleteMissing": {
        const missing = { ...entry, name: `${entry.name}-never` };
        const result = await (kind === "readMissing" ? this.#ask(missing) : this.#remove(missing));
        return !result.ok && result.error.code === "ENTRY_NOT_FOUND" ? null : JSON.stringify(result);
      }
    }
  }

  /** All callers use the same users, each in another order. */
  #newEntry(count: number): OwnEntry {
    const step = Array.from(this.#id).reduce((sum, character) => sum + character.charCodeAt(0), 0);
    const userId = `user-${(step * 7 + count) % usersCount}`;
    return { userId, name: `${this.#id}-${count}`, body: this.#bodyOf(count), created: null };
  }

  #bodyOf(count: number): string {
    return `Call ${count} of ${this.#id}.\n`.repeat(5);
  }

  async #read(entry: OwnEntry): Promise<string | null> {
    const result = await this.#ask(entry);
    const { created } = (result.ok ? result.data : {}) as { created?: string };
    if (entry.created === null && created) this.#entry = { ...entry, created };
    const { userId, name, body } = entry;
    return faultOf(result, { name, description: describe(userId, name), body, created: entry.created ?? created });
  }

  async #delete(entry: OwnEntry): Promise<string | null> {
    const result = await this.#remove(entry);
    const { trashed } = (result.ok ? result.data : {}) as { trashed?: string };
    this.#trashed.push({ ...entry, path: `${trashed}` });
    this.#entry = null;
    return faultOf(result, { outcome: "deleted" });
  }

  #upsert({ userId, name, body }: OwnEntry): Promise<ToolResult> {
    const input = { action: "upsert", name, type: "project", description: describe(userId, name), body };
    return this.#runtime.call("UpdateUserMemory", input, { userId });
  }

  #ask({ userId, name }: OwnEntry): Promise<ToolResult> {
    return this.#runtime.call("ReadUserMemory", { name }, { userId });
  }

  #remove({ userId, name }: OwnEntry): Promise<ToolResult> {
    return this.#runtime.call("UpdateUserMemory", { action: "delete", name }, { userId });
  }
}

function faultOf(result: ToolResult, expected: Readonly<Record<string, unknown>>): string | null {
  const data = (result.ok ? result.data : {}) as Record<string, unknown>;
  const isRight = result.ok && Object.entries(expected).every(([key, value]) => data[key] === value);
  return isRight ? null : `${JSON.stringify(result)}, expected ${JSON.stringify(expected)}`;
}
