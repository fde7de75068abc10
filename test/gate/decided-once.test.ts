/**
 * Two decide about the same write: one of them wins, and the other is told what has become of it. With one host and with
 * two, on files, in memory and on PostgreSQL, for each home that a write can be in.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, StoreDefinition } from "memcell";
import { describe, expect, test } from "vitest";

import type { HeldRecords, UserId } from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitingId } from "../support/waiting-id.ts";

const owner: CallContext = { userId: "alice" };
const web: CallContext = { userId: "alice", origin: { class: "tool_external", run: "web" } };

const own = { action: "upsert", name: "n", type: "user", description: "d", body: "bread" };

/** Where a write waits to be made: in the user's folder, in a mounted folder, and in the user's own store. */
const homes = {
  memory: (runtime: Runtime, body: string) =>
    runtime.call("UpdateUserMemory", { action: "upsert", name: "n", type: "user", description: "d", body }, web),
  journal: (runtime: Runtime, body: string) =>
    runtime.call("memory_write", { key: `k-${body}`, content: body, target: "summary" }, web),
  store: (runtime: Runtime, body: string) =>
    runtime.callAsHost(
      "stores/AnthropicMemory",
      { command: "create", path: `/memories/${body}.md`, file_text: body },
      web,
    ),
} as const;
type Home = keyof typeof homes;

interface Hosts extends AsyncDisposable {
  /** Two hosts, or one twice. */
  readonly both: readonly [Runtime, Runtime];
  readonly folder: string;
  /** What the hosts keep beside the memory. */
  readonly withRecords: (work: (records: HeldRecords) => Promise<void>) => Promise<void>;
}

const engines = ["files", "mounted files", "memory", "PostgreSQL"] as const;
type Engine = (typeof engines)[number];

async function hosts(engine: Engine, count: 1 | 2, clock?: () => number): Promise<Hosts> {
  const folder = temporaryFolder();
  const dir = join(folder.path, "data");
  const mounts = [{ userId: "alice", scope: "journal", dir: join(folder.path, "notes") }];
  const inMemory = memoryStore();
  const url = engine === "PostgreSQL" ? await freshDatabase() : "";
  const store = (): StoreDefinition => {
    if (engine === "memory") return inMemory;
    if (engine === "PostgreSQL") return postgresStore({ url });
    return engine === "files" ? fileStore({ dir }) : fileStore({ dir, mounts });
  };
  const open = (): Promise<Runtime> =>
    createRuntime({
      store: store(),
      plugins: ["user-memory", "journal", "stores"],
      threadsMax: 1,
      ...(clock && { clock }),
    });
  const one = await open();
  const both = [one, count === 1 ? one : await open()] as const;
  return {
    both,
    folder: folder.path,
    async withRecords(work) {
      const opened = store().open(() => {});
      try {
        await opened.holdRecords("alice" as UserId, { writes: true, until: performance.now() + 9_000 }, work);
      } finally {
        await opened.close();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const each of new Set(both)) await each.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Whether a version says that the write was applied. */
const isActive = async (runtime: Runtime, body: string): Promise<boolean> =>
  (await runtime.upkeep.export(owner)).files.some(
    ({ path, content }) => !path.startsWith("trash/") && Buffer.from(content).includes(body),
  );

const message = (result: PromiseSettledResult<unknown>): string =>
  result.status === "rejected" ? (result.reason as Error).message : "";

const told = (how: string) =>
  expect.objectContaining({ code: "ENTRY_NOT_FOUND", message: expect.stringMatching(how) as string }) as Error;

const cases: readonly (readonly [Engine, Home])[] = [
  ["files", "memory"],
  ["files", "store"],
  ["mounted files", "journal"],
  ["memory", "memory"],
  ["memory", "store"],
  ["PostgreSQL", "memory"],
  ["PostgreSQL", "store"],
];

describe.for(cases)("on %s, of the scope %s", ([engine, home]) => {
  const wait = async (runtime: Runtime, body: string): Promise<string> => waitingId(await homes[home](runtime, body));

  test.for([1, 2] as const)("beside a rejection, by %i host(s)", async (count) => {
    await using stage = await hosts(engine, count);
    const [one, other] = stage.both;
    for (const first of ["approve", "reject"] as const) {
      for (let round = 0; round < 2; round++) {
        const body = `${first}${round}`;
        const id = await wait(one, body);
        const second = first === "approve" ? "reject" : "approve";
        const decided = await Promise.allSettled([one.upkeep[first](owner, id), other.upkeep[second](owner, id)]);
        const won = decided.flatMap(({ status }, at) => (status === "fulfilled" ? [at === 0 ? first : second] : []));
        expect(won).toHaveLength(1);
        const isApproved = won[0] === "approve";
        expect(decided.map(message).join("")).toMatch(isApproved ? /was approved at/ : /was rejected at/);
        expect(await isActive(other, body)).toBe(isApproved);
        expect(await other.upkeep.pending(owner)).toEqual([]);
      }
    }
  });

  test("a rejection, an approval and an undo that come at the commit of an approval are too late", async () => {
    await using stage = await hosts(engine, 2);
    const [one, other] = stage.both;
    for (const decide of ["reject", "approve"] as const) {
      const id = await wait(one, `late${decide}`);
      const late = new Promise<PromiseSettledResult<unknown>>((resolve) => {
        const end = one.onChange(() => {
          end();
          void Promise.allSettled([one.upkeep[decide](owner, id)]).then(([result]) => resolve(result));
        });
      });
      expect(await one.upkeep.approve(owner, id)).toMatchObject({ applied: true });
      expect(await late).toMatchObject({ status: "rejected", reason: told("was approved at") });
      await expect(other.upkeep.showPending(owner, id)).rejects.toEqual(told("was approved at"));
      expect(await isActive(other, `late${decide}`)).toBe(true);
    }
    const id = await wait(one, "undone");
    const late = new Promise<unknown>((resolve) => {
      const end = one.onChange(() => {
        end();
        resolve(other.upkeep.undo(owner, { run: "web" }));
      });
    });
    await one.upkeep.approve(owner, id);
    expect(await late).toMatchObject({ waiting: [] });
    expect(await isActive(one, "undone")).toBe(false);
  });

  test.for([1, 2] as const)("beside another approval and beside an undo, by %i host(s)", async (count) => {
    await using stage = await hosts(engine, count);
    const [one, other] = stage.both;
    const id = await wait(one, "twice");
    const twice = await Promise.allSettled([one.upkeep.approve(owner, id), other.upkeep.approve(owner, id)]);
    expect(twice.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(twice.map(message).join("")).toMatch(/was approved at/);
    const versions = await one.upkeep.history(owner);
    expect(new Set(versions.filter(({ kind }) => kind === "approved").map(({ seq }) => seq)).size).toBe(1);
    for (let round = 0; round < 2; round++) {
      const body = `round${round}`;
      const ofRun = await wait(one, body);
      const [approved, undone] = await Promise.allSettled([
        one.upkeep.approve(owner, ofRun),
        other.upkeep.undo(owner, { run: "web" }),
      ]);
      if (undone.status === "rejected") throw undone.reason;
      expect(undone.value.waiting).toHaveLength(approved.status === "rejected" ? 1 : 0);
      if (approved.status === "rejected") expect(approved.reason).toEqual(told("was rejected by an undo at"));
      expect(await isActive(one, body)).toBe(false);
    }
  });

  test.for(["lost", "older", "damaged"] as const)(
    "an approval that was killed after its commit counts, and its note is %s",
    async (how) => {
      await using stage = await hosts(engine, 1);
      const [runtime] = stage.both;
      const id = await wait(runtime, "made");
      let [record, older] = ["", ""];
      await runtime.upkeep.reject(owner, await wait(runtime, "other"));
      await stage.withRecords(async (records) => {
        record = (await records.read("pending", id)) ?? "";
        older = (await records.read("pending", "decided")) ?? "";
      });
      const written = { lost: null, older, damaged: "[" }[how];
      const lose = (): Promise<void> =>
        stage.withRecords(async (records) => {
          await records.write("pending", id, record);
          if (written === null) await records.remove("pending", "decided");
          else await records.write("pending", "decided", written);
        });
      expect(await runtime.upkeep.approve(owner, id)).toMatchObject({ applied: true });
      for (const decide of ["approve", "reject", "showPending"] as const) {
        await lose();
        await expect(runtime.upkeep[decide](owner, id)).rejects.toEqual(told("was approved at"));
      }
      await lose();
      expect(await runtime.upkeep.pending(owner)).toEqual([]);
      await lose();
      expect(await runtime.upkeep.undo(owner, { run: "web" })).toMatchObject({ waiting: [] });
      const versions = await runtime.upkeep.history(owner);
      expect(new Set(versions.filter(({ kind }) => kind === "approved").map(({ seq }) => seq)).size).toBe(1);
    },
  );

  test("after an erasure nothing comes back", async () => {
    await using stage = await hosts(engine, 1);
    const [runtime] = stage.both;
    for (let round = 0; round < 2; round++) {
      const id = await wait(runtime, `erased${round}`);
      await runtime.call("UpdateUserMemory", { ...own, name: "own" }, owner);
      // A mounted folder is not erased.
      const erase = () => runtime.upkeep.erase(owner);
      const approve = () => runtime.upkeep.approve(owner, id);
      const [erased, approved] = await Promise.allSettled(
        round % 2 === 0 ? [erase(), approve()] : [approve(), erase()].toReversed(),
      );
      if (erased?.status === "rejected") throw erased.reason;
      if (approved?.status === "rejected") expect(approved.reason).toMatchObject({ code: "ENTRY_NOT_FOUND" });
      expect(await runtime.upkeep.pending(owner)).toEqual([]);
      if (engine !== "mounted files") expect(await runtime.upkeep.users()).toEqual([]);
    }
  });
});

test("an approval that was begun in a mounted folder that nobody can open keeps no other write from a decision", async () => {
  await using stage = await hosts("mounted files", 1);
  const [runtime] = stage.both;
  const [inMount, notBegun, ...others] = [
    waitingId(await homes.journal(runtime, "mounted")),
    waitingId(await homes.journal(runtime, "not-begun")),
    waitingId(await homes.memory(runtime, "a")),
    waitingId(await homes.memory(runtime, "b")),
  ];
  const begun = [{ id: inMount, how: "approved", atMs: Date.now(), by: null }];
  await stage.withRecords((records) => records.write("pending", "decided", JSON.stringify(begun)));
  const notes = join(stage.folder, "notes");
  mkdirSync(notes, { recursive: true });
  renameSync(notes, `${notes}-away`);
  writeFileSync(notes, "");
  expect((await runtime.upkeep.pending(owner)).map(({ id }) => id)).toEqual([inMount, notBegun, ...others]);
  await runtime.upkeep.reject(owner, others[0] ?? "");
  expect(await runtime.upkeep.approve(owner, others[1] ?? "")).toMatchObject({ applied: true });
  // Nobody knows whether it was made.
  const refused = expect.objectContaining({ code: expect.stringMatching(/^STORAGE_/) as string }) as Error;
  await expect(runtime.upkeep.reject(owner, inMount)).rejects.toEqual(refused);
  // Nothing says that this one was begun.
  await runtime.upkeep.reject(owner, notBegun ?? "");
  rmSync(notes);
  renameSync(`${notes}-away`, notes);
  await runtime.upkeep.reject(owner, inMount);
  expect(await runtime.upkeep.pending(owner)).toEqual([]);
});

test.for(["files", "memory", "PostgreSQL"] as const)(
  "%s: who is late is told what a write waits as now, and nothing is applied after its time",
  async (engine) => {
    let nowMs = Date.UTC(2026, 0, 1);
    let calls = Infinity;
    const clock = (): number => (calls-- > 0 ? nowMs : (nowMs += calls === -1 ? 31 * 24 * 3_600_000 : 0));
    await using stage = await hosts(engine, 1, clock);
    const [runtime] = stage.both;
    await homes.memory(runtime, "soup");
    const id = waitingId(await homes.memory(runtime, "cake"));
    await runtime.call("UpdateUserMemory", own, owner);
    const again = await runtime.upkeep.approve(owner, id);
    expect(again).toMatchObject({ applied: false });
    for (const decide of ["approve", "reject", "showPending"] as const) {
      await expect(runtime.upkeep[decide](owner, id)).rejects.toEqual(told(`waits as "${again.write.id}"`));
    }
    // The time goes by at each reading of the clock in turn.
    for (let at = 0; at < 8; at++) {
      const late = waitingId(await homes.memory(runtime, `late${at}`));
      const waiting = (await runtime.upkeep.pending(owner)).find((each) => each.id === late);
      calls = at;
      await Promise.allSettled([runtime.upkeep.approve(owner, late)]);
      calls = Infinity;
      const version = (await runtime.upkeep.history(owner)).find(({ kind }) => kind === "approved");
      expect(version?.at.getTime() ?? 0).toBeLessThanOrEqual(waiting?.expires.getTime() ?? 0);
    }
  },
);
