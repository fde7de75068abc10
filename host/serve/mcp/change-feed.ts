import type { Runtime } from "../../runtime/api.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { entryUri, indexUri } from "./memory-uri.ts";
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
  readonly #changed = new Set<string>();

  constructor(runtime: Pick<Runtime, "onChange">, userId: string) {
    this.#stop = runtime.onChange((change) => {
      if (change.userId === userId) this.#note(change);
    });
  }

  /** Ends it. What has happened before is still told. */
  close(): void {
    this.#stop();
  }

  /** What happens within one turn of the event loop is told once. */
  #note({ files }: MemoryChange): void {
    const uris = files.flatMap((file) => uriOf(file) ?? []);
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
}

/** All that is known here of how memory is kept: a file's stem is the name of an entry. What is in the trash is none. */
function uriOf({ scope, path }: MemoryChange["files"][number]): string | null {
  const stem = scope === "memory" ? /^([^/]+)\.md$/.exec(path)?.[1] : undefined;
  return stem === undefined ? null : entryUri(stem);
}
