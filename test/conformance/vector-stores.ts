/** The Node host's stores for replaying vectors: each takes a vector's files before, and returns those after. */
import { rmSync } from "node:fs";

import { fileStore, memoryStore, postgresStore } from "memcell";
import type { StoreDefinition } from "memcell";

import { isScopePath, scopeName } from "../../shared/path.ts";
import { openStore } from "../stage/open-store.ts";
import { userFolderName } from "../stage/store.ts";
import type { ChangeSet, HoldOptions, OpenedStore, UserId } from "../stage/store.ts";
import { emptiedDatabase } from "../support/postgres/fresh-database.ts";
import { diskLacks } from "./disk-abilities.ts";
import { bytesOf, contentOf, foundFiles, writeBefore } from "./vector-files.ts";
import type { FilesByFolder } from "./vector-files.ts";
import { commitStates, foundStates, keptStates, writeStates } from "./vector-states.ts";
import type { Vector, VectorStates } from "./vector.ts";

export interface VectorStore extends AsyncDisposable {
  readonly definition: StoreDefinition;
  found(): Promise<FilesByFolder> | FilesByFolder;
  foundStates(): Promise<VectorStates> | VectorStates;
}

export interface VectorStoreKind {
  /** Why a vector cannot be replayed here, or `null`. `folder` is on the disk in question. */
  lacks(vector: Vector, folder: string): string | null;
  /** Puts a vector's files into a new store. A file store replaces the content of `dataDir`. */
  open(vector: Vector, dataDir: string): Promise<VectorStore> | VectorStore;
}

export const vectorStores = {
  fileStore: {
    lacks: (vector, folder) => {
      const lacking = vector.needs?.find((ability) => diskLacks(ability, folder));
      return lacking === undefined ? null : `the disk has no ${lacking}`;
    },
    open: (vector, dataDir) => {
      rmSync(dataDir, { recursive: true, force: true });
      writeBefore(dataDir, vector);
      writeStates(dataDir, vector.storesBefore);
      return {
        definition: fileStore({ dir: dataDir }),
        found: () => foundFiles(dataDir),
        foundStates: () => foundStates(dataDir),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  },
  memoryStore: withoutFiles(() => memoryStore()),
  postgresStore: withoutFiles(async () => postgresStore({ url: await emptiedDatabase("vectors") })),
} satisfies Record<string, VectorStoreKind>;

/** An engine that has no files: what a vector has before is committed to it, beside the store of the vector's calls. */
function withoutFiles(define: () => StoreDefinition | Promise<StoreDefinition>): VectorStoreKind {
  return {
    lacks: whyFiles,
    open: async (vector) => {
      const definition = await define();
      const store = openStore(definition);
      await commitFiles(store, vector);
      await commitStates(store, vector.storesBefore);
      return {
        definition,
        found: () => keptIn(store, vector),
        foundStates: () => keptStates(store),
        [Symbol.asyncDispose]: () => store.close(),
      };
    },
  };
}

async function commitFiles(store: OpenedStore, vector: Vector): Promise<void> {
  for (const [userId, files] of Object.entries(vector.before)) {
    const changes = Object.entries(files).map(([at, file]): ChangeSet[number] => {
      const [scope, path] = partsOf(at);
      return { kind: "write", scope, path, content: bytesOf(file) };
    });
    await store.holdUser(userId as UserId, holdOptions(), (held) => held.commit(changes, []));
  }
}

/** Why a vector needs the file store, or `null`: it has things that only a folder can hold. */
export function whyFiles(vector: Vector): string | null {
  if (vector.links) return "it is about symbolic links";
  if (vector.hardLinks) return "it is about second names of a file";
  if (vector.folders) return "it is about folders without files";
  if (vector.folderNames) return "it is about the names of users' folders";
  const paths = Object.values(vector.before).flatMap((files) => Object.keys(files));
  return paths.every(isForTools) ? null : "it is about files that no tool can name";
}

function isForTools(at: string): boolean {
  const [scope, path] = partsOf(at);
  return scopeName.test(scope) && isScopePath(path);
}

function partsOf(at: string): [scope: string, path: string] {
  const slash = at.indexOf("/");
  return slash === -1 ? [at, ""] : [at.slice(0, slash), at.slice(slash + 1)];
}

const holdOptions = (): HoldOptions => ({ writes: true, until: performance.now() + 10_000 });

async function keptIn(store: OpenedStore, vector: Vector): Promise<FilesByFolder> {
  const kept: FilesByFolder = {};
  for (const { kind, id } of await store.engine.homes()) {
    if (kind !== "user") continue;
    const files: FilesByFolder[string] = {};
    await store.holdUser(id, holdOptions(), async ({ reader }) => {
      for (const scope of await reader.scopes()) {
        const { files: listed, unfit } = await reader.survey(scope);
        // A store does not read a file that is too large, so only its existence is checked.
        for (const { path } of unfit) files[`${scope}/${path}`] = vector.before[id]?.[`${scope}/${path}`] ?? "";
        for (const { path } of listed) {
          files[`${scope}/${path}`] = contentOf(Buffer.from((await reader.bytesOf(scope, path)) ?? []));
        }
      }
    });
    kept[userFolderName(id)] = files;
  }
  return kept;
}
