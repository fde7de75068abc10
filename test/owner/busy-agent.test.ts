/**
 * The owner takes something back, or erases all, while agents write one call after the other, to the same files' scope and to
 * others: the owner's hand wins, within the time that an operation may wait.
 */
import { createRuntime, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { isLong, oneIn } from "../stage/seed.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { alice, upsert } from "./upkeep-stage.ts";

const engines = ["files", "memory", "PostgreSQL"] as const;
type BusyScope = "memory" | "store";

async function openBusy(engine: (typeof engines)[number], dataDir: string): Promise<Runtime> {
  const places = {
    files: () => ({ dataDir, durability: "relaxed" as const }),
    memory: () => ({ store: memoryStore() }),
    PostgreSQL: async () => ({ store: postgresStore({ url: await freshDatabase() }) }),
  };
  return await createRuntime({ ...(await places[engine]()), plugins: ["user-memory", "stores"] });
}

interface Writing {
  readonly scope: BusyScope;
  readonly run: string;
}

/** Resolves when each writer has written. Each goes on until all are ended; `end` returns what failed. */
async function startWriters(runtime: Runtime, count: number, writing: Writing) {
  const failures: unknown[] = [];
  const over = new AbortController();
  const loop = async (writer: number, begun: () => void): Promise<void> => {
    for (let call = 0; !over.signal.aborted; call++) {
      const result = await write(runtime, `writer-${writer}`, call, writing);
      if (!result.ok) failures.push(result.error);
      begun();
    }
  };
  const loops: Promise<void>[] = [];
  const begin = (writer: number) => new Promise<void>((resolve) => void loops.push(loop(writer, resolve)));
  await Promise.all(Array.from({ length: count }, (_, writer) => begin(writer)));
  const end = async (): Promise<unknown[]> => {
    over.abort();
    await Promise.all(loops);
    return failures;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

function write(runtime: Runtime, name: string, call: number, { scope, run }: Writing): Promise<ToolResult> {
  const ctx: CallContext = { ...alice, origin: { class: "direct_user", run } };
  const text = `text ${call}`;
  if (scope === "memory") return runtime.call("UpdateUserMemory", upsert(name, text), ctx);
  // A store has room for 1,000 entries.
  const isLimited = run === "good";
  const path = `/memories/${isLimited ? name : `${name}-${call}`}.md`;
  const input =
    isLimited && call > 0
      ? { command: "insert", path, insert_line: 0, insert_text: `${text}\n` }
      : { command: "create", path, file_text: text };
  return runtime.callAsHost("stores/AnthropicMemory", input, ctx);
}

const run = "bad";
const entries = isLong ? 300 : 6;

/** Writes entries of the run "bad". */
async function poison(runtime: Runtime, scope: BusyScope, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    expect(await write(runtime, `bad-${at}`, at, { scope, run })).toMatchObject({ ok: true });
  }
}

const cases = engines.flatMap((engine) =>
  ([1, 4] as const).flatMap((writers) =>
    (["memory", "store"] as const).map((scope) => [engine, writers, scope] as const),
  ),
);

// Other engines, numbers of writers and scopes with each seed.
test.for(oneIn(4, cases))(
  "on %s beside %i writer(s), an undo and a restored version of the scope %s win, and other operations end",
  async ([engine, writers, scope]) => {
    using folder = temporaryFolder();
    await using runtime = await openBusy(engine, folder.path);
    const { upkeep } = runtime;
    await poison(runtime, scope, entries);
    const version = (await upkeep.history(alice)).find(({ path }) => path.startsWith("bad-"));
    await using busy = await startWriters(runtime, writers, { scope, run: "good" });
    const plan = await upkeep.undo(alice, { run });
    expect(plan.trashed).toHaveLength(entries);
    expect(plan.left).toEqual([]);
    await upkeep.restoreVersion(alice, version?.path ?? "", { version: version?.seq ?? 0, scope });
    await upkeep.purge(alice, { beforeEpochMs: Date.now() + 1_000 });
    await upkeep.mend(alice);
    const bad = (await upkeep.export(alice)).files.filter(({ path }) => path.startsWith("bad-"));
    await upkeep.import(alice, bad, { replace: true });
    await runtime.stores(alice).grant("bob", { level: "read" });
    expect(await runtime.stores(alice).revoke("bob")).toBe(true);
    expect(await busy.end()).toEqual([]);
    expect(await upkeep.inspect(alice)).toEqual([]);
    expect(bad.map(({ path }) => path)).toEqual([version?.path]);
  },
);

test.for(oneIn(2, engines))(
  "on %s, what the run has written before the undo's commit is undone as well",
  async (engine) => {
    using folder = temporaryFolder();
    await using runtime = await openBusy(engine, folder.path);
    const { upkeep } = runtime;
    await poison(runtime, "memory", 6);
    await using busy = await startWriters(runtime, 2, { scope: "memory", run });
    await upkeep.undo(alice, { run });
    expect(await busy.end()).toEqual([]);
    const versions = (await upkeep.history(alice)).filter(({ path }) => path !== "MEMORY.md");
    const undone = versions.filter(({ kind }) => kind === "undone");
    const last = Math.max(...undone.map(({ seq }) => seq));
    const before = versions.filter((each) => each.run === run && each.seq < last && !each.path.startsWith("trash/"));
    const paths = [...new Set(before.map(({ path }) => path))].toSorted();
    expect(paths).toHaveLength(8);
    const gone = undone.filter(({ sha256, seq }) => sha256 === null && seq === last);
    expect(gone.map(({ path }) => path).toSorted()).toEqual(paths);
  },
);

test("of a user whom another host erases again and again, nothing comes back, and no call fails", async () => {
  using folder = temporaryFolder();
  await using writing = await openBusy("files", folder.path);
  await using erasing = await openBusy("files", folder.path);
  /** An export is of one moment: its index has the entries that it has. */
  const namesOf = async (): Promise<string[]> => {
    const { files } = await erasing.upkeep.export(alice);
    const names = files.flatMap(({ scope, path }) => (scope === "memory" && path !== "MEMORY.md" ? [path] : []));
    const index = Buffer.from(files.find(({ path }) => path === "MEMORY.md")?.content ?? []).toString();
    const listed = Array.from(index.matchAll(/^- \[.*?\]\((.*?)\)/gm), ([, path = ""]) => path);
    expect(listed.toSorted()).toEqual(names.toSorted());
    return files.map(({ path }) => path);
  };
  await using inStore = await startWriters(writing, 1, { scope: "store", run: "more" });
  await using inMemory = await startWriters(writing, 1, { scope: "memory", run: "more" });
  const erased: string[] = [];
  for (let at = 0; at < 8; at++) {
    erased.push(...(await namesOf()).filter((path) => path.startsWith("writer-0-")));
    expect(await erasing.upkeep.erase(alice)).toMatchObject({ left: [] });
    for (const scope of ["memory", "store"] as const) await write(writing, `later-${at}`, at, { scope, run: "more" });
  }
  expect([await inStore.end(), await inMemory.end()]).toEqual([[], []]);
  const left = await namesOf();
  expect(erased.length).toBeGreaterThan(0);
  expect(left.filter((path) => erased.includes(path))).toEqual([]);
  expect(left).toEqual(expect.arrayContaining(["later-7.md", "later-7-7.md"]));
  expect(await erasing.upkeep.inspect(alice)).toEqual([]);
  expect(await erasing.upkeep.strays()).toEqual([]);
});
