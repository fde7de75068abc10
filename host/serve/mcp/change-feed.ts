import { entryNameIn } from "../../../shared/entry-file.ts";
import { isTrashPath } from "../../../shared/path.ts";
import { anyStore, scopeOfStore, storePrefix } from "../../../shared/shared-scope.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryFamily } from "../../runtime/memory-families.ts";
import { storeIdOf } from "../../values/ids.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { canonicalUri, entryUri, entryUriTemplate, indexUri, indexUriOf, parseMemoryUri } from "./memory-uri.ts";
import { InMemoryServerEventBus } from "./sdk.ts";
import type { ServerEventBus } from "./sdk.ts";

/**
 * Publishes changes in one user's memory: that the list has changed, and which watched resources have. A feed and its
 * bus belong to this user and never contain changes of others.
 *
 * @example
 * const feed = new ChangeFeed(runtime, "alice");
 * const handler = createMcpHandler(() => makeUserServer({ runtime, userId: "alice", labels: {}, feed }), { bus: feed.bus });
 * feed.close();
 */
export class ChangeFeed {
  readonly bus: ServerEventBus = new InMemoryServerEventBus();
  readonly #stops: readonly (() => void)[];
  readonly #families: readonly MemoryFamily[];
  /** URIs, or the template for all entries of a family if a changed file's path does not say which entries it holds. */
  readonly #changed = new Set<string>();
  readonly #watched = new Set<readonly WatchedUri[]>();

  constructor(runtime: Pick<Runtime, "onChange" | "onChangeElsewhere" | "families">, userId: string) {
    this.#families = runtime.families();
    const own = scopeOfStore(storeIdOf(userId));
    const stop = runtime.onChange(({ userId: by, files }) => {
      // Others can change the user's own store.
      const seen = files.filter(({ scope }) => scope === own || (by === userId && !scope.startsWith(storePrefix)));
      this.#note(seen.map(({ scope, path }) => ({ scope: scope === own ? anyStore : scope, path })));
    });
    this.#stops = [stop, runtime.onChangeElsewhere(userId, () => this.#tellOfAll())];
  }

  /** Ends the feed. Earlier changes are still published. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  /**
   * Publishes changes of these resources, with the URIs as spelt here, until the returned function is called. A
   * resource need not exist. Invalid URIs are ignored.
   */
  watch(uris: readonly string[]): () => void {
    const watched = uris.flatMap((uri) => watchedUri(uri) ?? []);
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  /** All changes within one turn of the event loop are published together. */
  #note(files: MemoryChange["files"]): void {
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
    this.#publish(all);
  }

  /** Nobody has said what has changed, so it can be everything. */
  #tellOfAll(): void {
    this.#publish([...this.#watched].flat());
  }

  #publish(all: readonly WatchedUri[]): void {
    for (const uri of new Set(all.map((each) => each.uri))) this.bus.publish({ kind: "resource_updated", uri });
    this.bus.publish({ kind: "resources_list_changed" });
  }

  /** Files in the trash are not entries, and entries that cannot be read are not resources. */
  #changedBy({ scope, path }: MemoryChange["files"][number]): string[] {
    if (isTrashPath(path)) return [];
    return this.#families.flatMap(({ name, canRead, indexScopes, entryScopes, entryFile }) => [
      ...(indexScopes.includes(scope) ? [indexUri, indexUriOf(name)] : []),
      ...(canRead && entryScopes.includes(scope) ? entriesAt(name, entryFile, path) : []),
    ]);
  }
}

interface WatchedUri {
  readonly uri: string;
  /** The changed URIs and templates that affect this resource. */
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
  const name = entryNameIn(entryFile, path);
  if (name === undefined) return [];
  return [name === null ? entryUriTemplate(family) : entryUri(family, name)];
}
