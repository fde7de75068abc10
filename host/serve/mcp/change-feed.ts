import { isTrashPath } from "../../../shared/path.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryFamily } from "../../runtime/memory-families.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { canonicalUri, entryUri, entryUriTemplate, indexUri, indexUriOf, parseMemoryUri } from "./memory-uri.ts";
import { InMemoryServerEventBus } from "./sdk.ts";
import type { ServerEventBus } from "./sdk.ts";

/**
 * Tells of changes in one user's memory: that the list has changed, and which of the resources that are watched. A feed and
 * its bus belong to this user: what happens to others never enters it.
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
  /** URIs, and templates for all entries of a family where a changed file does not tell which entries it holds. */
  readonly #changed = new Set<string>();
  readonly #watched = new Set<readonly WatchedUri[]>();

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

  /**
   * Tells of these resources, each as it is spelt here, until what is returned is called. What a URI names need not be there;
   * one that names nothing is never told of.
   */
  watch(uris: readonly string[]): () => void {
    const watched = uris.flatMap((uri) => watchedUri(uri) ?? []);
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  /** What happens within one turn of the event loop is told once. */
  #note({ files }: MemoryChange): void {
    const changed = files.flatMap((file) => this.#changedBy(file));
    if (changed.length === 0) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#tell());
    for (const uri of changed) this.#changed.add(uri);
  }

  #tell(): void {
    const all = [...this.#watched]
      .flat()
      .filter(({ changesWith }) => changesWith.some((uri) => this.#changed.has(uri)));
    this.#changed.clear();
    for (const uri of new Set(all.map((each) => each.uri))) this.bus.publish({ kind: "resource_updated", uri });
    this.bus.publish({ kind: "resources_list_changed" });
  }

  /** What is in the trash is no entry. */
  #changedBy({ scope, path }: MemoryChange["files"][number]): string[] {
    if (isTrashPath(path)) return [];
    return this.#families.flatMap(({ name, indexScopes, entryScopes, entryFile }) => [
      ...(indexScopes.includes(scope) ? [indexUri, indexUriOf(name)] : []),
      ...(entryScopes.includes(scope) ? entriesAt(name, entryFile, path) : []),
    ]);
  }
}

interface WatchedUri {
  readonly uri: string;
  /** What is told to have changed when this resource may have. */
  readonly changesWith: readonly string[];
}

function watchedUri(uri: string): WatchedUri | null {
  const named = parseMemoryUri(uri);
  if (named === null) return null;
  const templates = named.kind === "entry" ? [entryUriTemplate(named.family)] : [];
  return { uri, changesWith: [canonicalUri(named), ...templates] };
}

function entriesAt(family: string, entryFile: string | undefined, path: string): string[] {
  if (entryFile === undefined) return [entryUriTemplate(family)];
  const [before = "", after = ""] = entryFile.split("{name}");
  const name = path.slice(before.length, path.length - after.length);
  const isEntry = name !== "" && !name.includes("/") && path === before + name + after;
  return isEntry ? [entryUri(family, name)] : [];
}
