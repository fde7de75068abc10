/** The shared stores of a vector: written before its calls and compared after them, on each of the Node host's stores. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { AccessLevel } from "../../shared/shared-scope.ts";
import { scopeOfStore } from "../../shared/shared-scope.ts";
import { entriesScope, grantsPath } from "../stage/store.ts";
import type { OpenedStore, StoreId, UserId } from "../stage/store.ts";
import { bytesOf, contentOf, filesBelow } from "./vector-files.ts";
import type { VectorFile, VectorGrant, VectorStates } from "./vector.ts";

/** What vectors leave out: files that a plugin derives from the others. */
const isDerived = (path: string): boolean => path.startsWith("_.index/") || path.startsWith("trash/_.index/");

const grantsText = (grants: readonly VectorGrant[]): string => JSON.stringify({ version: 1, grants });

/** Writes stores as files. */
export function writeStates(dataDir: string, states: VectorStates = {}): void {
  for (const [id, { files = {}, grants }] of Object.entries(states)) {
    const store = join(dataDir, "stores", id);
    write(join(store, ".memcell/owner"), `stores/${id}`);
    for (const [path, file] of Object.entries(files)) write(join(store, "entries", path), bytesOf(file));
    if (grants === undefined) continue;
    write(join(store, ".memcell", grantsPath), grantsText(grants));
    for (const { grantee, grantedMs, expiresMs } of grants) {
      write(join(dataDir, "stores/.granted", grantee, `${id}.${grantedMs}.${expiresMs ?? "never"}`), "");
    }
  }
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Reads all stores that have entries or grants. */
export function foundStates(dataDir: string): VectorStates {
  const folder = join(dataDir, "stores");
  const ids = existsSync(folder) ? readdirSync(folder) : [];
  const states = ids.map((id) => {
    const [entries, grants] = [join(folder, id, "entries"), join(folder, id, ".memcell", grantsPath)];
    const files = existsSync(entries) ? filesBelow(entries) : {};
    return [id, stateOf(files, existsSync(grants) ? readFileSync(grants, "utf8") : null)] as const;
  });
  return withoutEmpty(states);
}

/** Commits stores to an engine that has no files. */
export async function commitStates(store: OpenedStore, states: VectorStates = {}): Promise<void> {
  for (const [name, { files = {}, grants }] of Object.entries(states)) {
    const id = name as StoreId;
    const changes = Object.entries(files).map(([path, file]) => ({
      kind: "write" as const,
      scope: scopeOfStore(id),
      path,
      content: bytesOf(file),
    }));
    const granted = grants?.map((each) => ({
      ...each,
      level: each.level as AccessLevel,
      grantee: each.grantee as StoreId,
    }));
    const stored = grants && granted && { content: grantsText(grants), granted, nowMs: 0 };
    await store.holdStores([id], options(true), (held) =>
      held.commit(id, { by: name as UserId, changes, seen: [], ...(stored && { grants: stored }) }),
    );
  }
}

/** The stores of an engine that has no files. */
export async function keptStates(store: OpenedStore): Promise<VectorStates> {
  const ids = await store.stores();
  return withoutEmpty(await Promise.all(ids.map(async (id) => [id, await keptState(store, id)] as const)));
}

async function keptState(store: OpenedStore, id: StoreId): Promise<VectorStates[string]> {
  return await store.holdStores([id], options(false), async (held) => {
    const reader = held.reader(id);
    const files: Record<string, VectorFile> = {};
    for (const { path } of (await reader.survey(entriesScope)).files) {
      files[path] = contentOf(Buffer.from((await reader.bytesOf(entriesScope, path)) ?? []));
    }
    const grants = await held.grants(id);
    return stateOf(files, grants && Buffer.from(grants).toString("utf8"));
  });
}

function stateOf(files: Readonly<Record<string, VectorFile>>, grants: string | null): VectorStates[string] {
  const listed = grants === null ? [] : (JSON.parse(grants) as { readonly grants: readonly VectorGrant[] }).grants;
  const shown = Object.entries(files).filter(([path]) => !isDerived(path));
  return {
    ...(shown.length > 0 && { files: Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
    ...(listed.length > 0 && { grants: listed }),
  };
}

const withoutEmpty = (states: readonly (readonly [string, VectorStates[string]])[]): VectorStates =>
  Object.fromEntries(
    states.filter(([, state]) => Object.keys(state ?? {}).length > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

const options = (writes: boolean) => ({ writes, until: performance.now() + 10_000 });
