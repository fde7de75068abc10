/** The command that copies; what is in a store, by its interface; and what lies in a data folder. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { StoreDefinition } from "memcell";

import { memcell } from "../stage/command.ts";
import { openStore } from "../stage/open-store.ts";
import { digestOf, entriesScope, grantsPath, ownStoreOf, recordKinds } from "../stage/store.ts";
import type { HeldHistory, HeldReader, HostRecords, OpenedStore } from "../stage/store.ts";
import { leaver, users } from "./filled-folder.ts";

/** Runs the command. What it says is in one text. */
export async function copy(from: string, to: string): Promise<{ readonly status: number; readonly stdout: string }> {
  const { status, stdout, stderr } = await memcell(["copy", "--from", from, "--to", to]);
  return { status, stdout: stdout + stderr };
}

type State = Readonly<Record<string, unknown>>;

const options = () => ({ writes: false, until: performance.now() + 30_000 });

/** Everything that a store tells of everybody. */
export async function stateOf(definition: StoreDefinition): Promise<State> {
  const store = openStore(definition);
  try {
    const state: Record<string, unknown> = {
      users: (await store.users()).toSorted(),
      stores: (await store.stores()).toSorted(),
    };
    for (const userId of await store.users()) {
      state[userId] = await store.holdUser(userId, options(), async ({ reader, history }) => ({
        files: await filesIn(reader, history, await reader.scopes()),
        history: await historyOf(history),
      }));
      state[`records of ${userId}`] = await store.holdRecords(userId, options(), recordsIn);
    }
    for (const id of await store.stores()) {
      state[id] = await store.holdStores([id], options(), async (held) => ({
        files: await filesIn(held.reader(id), held.history(id), [entriesScope]),
        grants: textOf(await held.grants(id)),
        history: await historyOf(held.history(id)),
      }));
    }
    return { ...state, hints: await hintsIn(store) };
  } finally {
    await store.close();
  }
}

async function filesIn(reader: HeldReader, history: HeldHistory, scopes: readonly string[]): Promise<State> {
  const files: Record<string, unknown> = {};
  for (const scope of scopes) {
    const { files: found, unfit } = await reader.survey(scope);
    for (const { path } of found) {
      const sha256 = digestOf(await reader.bytesOf(scope, path));
      files[`${scope}/${path}`] = {
        sha256,
        trust: (await history.originOf(scope, path))?.trust ?? history.state().unknown,
      };
    }
    if (unfit.length > 0) files[scope] = unfit;
  }
  return files;
}

async function historyOf(history: HeldHistory): Promise<State> {
  const versions = await history.versions();
  const hashes = versions
    .flatMap(({ files }) => files.flatMap(({ sha256, before }) => [sha256, before]))
    .filter(isText);
  const contents = await history.contentsOf(new Set(hashes));
  return {
    head: history.state().head,
    isBroken: history.state().isBroken,
    hasStated: history.state().hasStated,
    versions,
    contents: Array.from(contents, ([sha256, content]) => [sha256, textOf(content)]).toSorted(byKey),
    origins: Array.from(await history.origins()).toSorted(byKey),
  };
}

async function recordsIn(records: HostRecords): Promise<State> {
  const all: Record<string, unknown> = {};
  for (const kind of recordKinds)
    for (const name of await records.names(kind)) all[`${kind}/${name}`] = await records.read(kind, name);
  return all;
}

async function hintsIn(store: OpenedStore): Promise<State> {
  const principals = [...users, leaver, "planner", "critic"];
  const hints = await Promise.all(principals.map((userId) => store.hintsOf(ownStoreOf(userId as never))));
  return Object.fromEntries(principals.map((userId, at) => [userId, hints[at]]));
}

const byKey = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

const isText = (text: string | null): text is string => text !== null;
const textOf = (bytes: Uint8Array | null): string | null => bytes && Buffer.from(bytes).toString("latin1");

/** The bytes and the times of writing of all files that are not the host's own, and of grants. */
export function treeOf(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter(
    (name) => !/\.memcell|\.granted/.test(name) || name.endsWith(grantsPath),
  );
  return Object.fromEntries(
    names.toSorted().flatMap((name) => {
      const facts = lstatSync(join(dataDir, name), { bigint: true });
      if (!facts.isFile()) return [];
      return [[name, `${digestOf(readFileSync(join(dataDir, name)))} ${facts.mtimeNs / 1_000n}`]];
    }),
  );
}
