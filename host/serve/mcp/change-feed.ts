import { isTrashPath } from "../../../shared/path.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryFamily } from "../../runtime/memory-families.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { entryUri, indexUri, indexUriOf } from "./memory-uri.ts";
import { InMemoryServerEventBus } from "./sdk.ts";
import type { ServerEventBus } from "./sdk.ts";

/**
 * Tells of changes in one user's memory. A feed and its bus belong to this user: what happens to others never enters it.
 *
 * @example
 * const feed = new ChangeFeed(runtime, "alice");
 * const handler = createMcpHandler(() => makeUserServer({ runtime, userId: "alice", labels: {}, feed }), { bus: feed.bus });
 * feed.close();
 */
export class ChangeFeed {
  readonly bus: ServerEventBus = new InMemoryServerEventBus();
  readonly #stop: () => void;
  readonly #families: readonly MemoryFamily[];
  readonly #changed = new Set<string>();
  /** Entries that clients know of, by family, where a changed file does not tell which entries it holds. */
  readonly #shown = new Map<string, Set<string>>();

  constructor(runtime: Pick<Runtime, "onChange" | "families">, userId: string) {
    this.#families = runtime.families();
    this.#stop = runtime.onChange((change) => {
      if (change.userId === userId) this.#note(change);
    });
  }

  /** Ends it. What has happened before is still told. */
  close(): void {
    this.#stop();
  }

  /** A client knows of an entry, and may watch it. The latest are kept. */
  show(family: string, name: string): void {
    if (this.#families.find((each) => each.name === family)?.entryFile !== undefined) return;
    const shown = this.#shown.get(family) ?? new Set();
    const uri = entryUri(family, name);
    shown.delete(uri);
    shown.add(uri);
    const [oldest] = shown;
    if (shown.size > mcpLimits.subscriptionsMax && oldest !== undefined) shown.delete(oldest);
    this.#shown.set(family, shown);
  }

  /** What happens within one turn of the event loop is told once. */
  #note({ files }: MemoryChange): void {
    const uris = files.flatMap((file) => this.#urisOf(file));
    if (uris.length === 0) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#tell());
    for (const uri of [...uris, indexUri]) this.#changed.add(uri);
  }

  #tell(): void {
    const uris = [...this.#changed];
    this.#changed.clear();
    for (const uri of uris) this.bus.publish({ kind: "resource_updated", uri });
    this.bus.publish({ kind: "resources_list_changed" });
  }

  /** What is in the trash is no entry. */
  #urisOf({ scope, path }: MemoryChange["files"][number]): string[] {
    const uris: string[] = [];
    if (isTrashPath(path)) return uris;
    for (const { name, scopes, hasIndex, entryFile } of this.#families) {
      if (!scopes.includes(scope)) continue;
      if (hasIndex) uris.push(indexUriOf(name));
      uris.push(...(entryFile === undefined ? (this.#shown.get(name) ?? []) : entryAt(name, entryFile, path)));
    }
    return uris;
  }
}

function entryAt(family: string, entryFile: string, path: string): string[] {
  const [before = "", after = ""] = entryFile.split("{name}");
  const name = path.slice(before.length, path.length - after.length);
  const isEntry = name !== "" && !name.includes("/") && path === before + name + after;
  return isEntry ? [entryUri(family, name)] : [];
}
