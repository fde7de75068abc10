/**
 * Two decide about the same write: one of them wins, and the other is told what has become of it. With one host and with
 * two, on files, in memory and on PostgreSQL, for each home that a write can be in.
 */
import { EventEmitter, once } from "node:events";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openStore } from "../stage/open-store.ts";
import { oneIn } from "../stage/seed.ts";
import type { HostRecords, UserId } from "../stage/store.ts";
import { ask } from "../stores/store-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { waitingId } from "../support/waiting-id.ts";
import { dayMs, mountedUsers, openGateStage, owner, save, storeKinds, web } from "./gate-stage.ts";
import type { StoreKind } from "./gate-stage.ts";

/** Where a write waits to be made: in the user's folder, in a mounted folder, and in the user's own store. */
const homes = {
  memory: (runtime: Runtime, userId: string, body: string) => save(runtime, "n", web(userId), body),
  journal: (runtime: Runtime, userId: string, body: string) =>
    runtime.call("memory_write", { key: `k-${body}`, content: body, target: "summary" }, web(userId)),
  store: (runtime: Runtime, userId: string, body: string) =>
    runtime.callAsHost(
      "stores/AnthropicMemory",
      { command: "create", path: `/memories/${body}.md`, file_text: body },
      web(userId),
    ),
} as const;
type Home = keyof typeof homes;

interface Hosts extends AsyncDisposable {
  readonly both: readonly [Runtime, Runtime];
  readonly folder: string;
  /** What the hosts keep beside a user's memory. */
  withRecords(userId: string, work: (records: HostRecords) => Promise<void>): Promise<void>;
}

async function openHosts(engine: StoreKind, options: Partial<RuntimeOptions> = {}): Promise<Hosts> {
  const stage = await openGateStage(engine);
  return {
    both: [await stage.open(options), await stage.open(options)],
    folder: stage.path,
    async withRecords(userId, work) {
      const store = openStore(stage.store());
      try {
        await store.holdRecords(userId as UserId, { writes: true, until: performance.now() + 9_000 }, work);
      } finally {
        await store.close();
      }
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

/** Whether the write is in memory. */
const isActive = async (runtime: Runtime, userId: string, body: string): Promise<boolean> =>
  (await runtime.upkeep.export(owner(userId))).files.some(
    ({ path, content }) => !path.startsWith("trash/") && Buffer.from(content).includes(body),
  );

const approvals = async (runtime: Runtime, userId: string): Promise<number> => {
  const versions = await runtime.upkeep.history(owner(userId));
  return new Set(versions.filter(({ kind }) => kind === "approved" || kind === "corrected").map(({ seq }) => seq)).size;
};

const message = (result: PromiseSettledResult<unknown>): string =>
  result.status === "rejected" ? (result.reason as Error).message : "";

const told = (how: string) =>
  expect.objectContaining({ code: "ENTRY_NOT_FOUND", message: expect.stringMatching(how) as string }) as Error;

const cases: readonly (readonly [StoreKind, Home])[] = [
  ["files", "memory"],
  ["files", "store"],
  ["mounted files", "journal"],
  ["memory", "memory"],
  ["memory", "store"],
  ["PostgreSQL", "memory"],
  ["PostgreSQL", "store"],
];

// Other engines and homes with each seed.
describe.for(oneIn(2, cases))("on %s, of the scope %s", ([engine, home]) => {
  let hosts: Hosts;
  let one: Runtime;
  beforeAll(async () => {
    hosts = await openHosts(engine);
    [one] = hosts.both;
  });
  afterAll(() => hosts[Symbol.asyncDispose]());

  let users = 0;
  const newUser = (): string => `user-${(users += 1)}`;

  const wait = async (userId: string, body: string): Promise<string> => waitingId(await homes[home](one, userId, body));
  /** By one host, or by two. */
  const counts = [0, 1] as const;

  test.for(counts)("beside a rejection: the other host is the host %i", async (at) => {
    const user = newUser();
    const other = hosts.both[at];
    for (const first of ["approve", "reject"] as const) {
      const id = await wait(user, first);
      const second = first === "approve" ? "reject" : "approve";
      const decided = await Promise.allSettled([
        one.upkeep[first](owner(user), id),
        other.upkeep[second](owner(user), id),
      ]);
      const won = decided.flatMap(({ status }, by) => (status === "fulfilled" ? [by === 0 ? first : second] : []));
      expect(won).toHaveLength(1);
      const isApproved = won[0] === "approve";
      expect(decided.map(message).join("")).toMatch(isApproved ? /was approved at/ : /was rejected at/);
      expect(await isActive(other, user, first)).toBe(isApproved);
      expect(await other.upkeep.pending(owner(user))).toEqual([]);
    }
  });

  test("a rejection, an approval and an undo that come at the commit of an approval are too late", async () => {
    const user = newUser();
    const [, other] = hosts.both;
    /** Begins something when the next approval is committed. */
    const atCommit = async (id: string, late: () => Promise<unknown>): Promise<PromiseSettledResult<unknown>> => {
      const result = new Promise<PromiseSettledResult<unknown>>((resolve) => {
        const end = one.onChange(() => {
          end();
          void Promise.allSettled([late()]).then(([settled]) => resolve(settled));
        });
      });
      expect(await one.upkeep.approve(owner(user), id)).toMatchObject({ applied: true });
      return await result;
    };
    for (const decide of ["reject", "approve"] as const) {
      const id = await wait(user, `late${decide}`);
      const late = await atCommit(id, () => one.upkeep[decide](owner(user), id));
      expect(late).toMatchObject({ status: "rejected", reason: told("was approved at") });
      await expect(other.upkeep.showPending(owner(user), id)).rejects.toEqual(told("was approved at"));
      expect(await isActive(other, user, `late${decide}`)).toBe(true);
    }
    const undo = () => other.upkeep.undo(owner(user), { run: "web" });
    expect(await atCommit(await wait(user, "undone"), undo)).toMatchObject({ value: { waiting: [] } });
    expect(await isActive(one, user, "undone")).toBe(false);
  });

  test.for(counts)("beside another approval and beside an undo: the other host is the host %i", async (at) => {
    const user = newUser();
    const other = hosts.both[at];
    const id = await wait(user, "twice");
    const approving = [one, other].map(({ upkeep }) => upkeep.approve(owner(user), id));
    const twice = await Promise.allSettled(approving);
    expect(twice.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(twice.map(message).join("")).toMatch(/was approved at/);
    expect(await approvals(one, user)).toBe(1);
    const ofRun = await wait(user, "undone");
    const [approved, undone] = await Promise.allSettled([
      one.upkeep.approve(owner(user), ofRun),
      other.upkeep.undo(owner(user), { run: "web" }),
    ]);
    if (undone.status === "rejected") throw undone.reason;
    expect(undone.value.waiting).toHaveLength(approved.status === "rejected" ? 1 : 0);
    if (approved.status === "rejected") expect(approved.reason).toEqual(told("was rejected by an undo at"));
    expect(await isActive(one, user, "undone")).toBe(false);
  });

  test.for(counts)("as it was corrected, beside each other decision: the other host is the host %i", async (at) => {
    const other = hosts.both[at];
    for (const second of ["reject", "approve", "correct"] as const) {
      const user = newUser();
      const id = await wait(user, `page-${second}`);
      const { files } = await one.upkeep.showPending(owner(user), id);
      const shown = files.find(({ isDerived }) => !isDerived)?.text ?? "";
      // What stands before it can name the entry.
      const from = shown.lastIndexOf(`page-${second}`);
      const correct = (runtime: Runtime, by: string) =>
        runtime.upkeep.approve(owner(user), id, { text: shown.slice(0, from) + by });
      const decided = await Promise.allSettled([
        correct(one, "first"),
        second === "correct" ? correct(other, "second") : other.upkeep[second](owner(user), id),
      ]);
      expect(decided.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const [isFirst] = decided.map(({ status }) => status === "fulfilled");
      expect(decided.map(message).join("")).toMatch(
        isFirst || second !== "reject" ? /was approved at/ : /was rejected at/,
      );
      expect(await isActive(other, user, "first")).toBe(isFirst);
      expect(await isActive(other, user, "second")).toBe(second === "correct" && !isFirst);
      expect(await approvals(one, user)).toBe(isFirst || second !== "reject" ? 1 : 0);
      expect(await one.upkeep.pending(owner(user))).toEqual([]);
    }
  });

  test.for(["lost", "older", "damaged"] as const)(
    "an approval that was killed after its commit counts, and its note is %s",
    async (how) => {
      const user = newUser();
      const id = await wait(user, "made");
      let [record, older] = ["", ""];
      await one.upkeep.reject(owner(user), await wait(user, "other"));
      await hosts.withRecords(user, async (records) => {
        record = (await records.read("pending", id)) ?? "";
        older = (await records.read("pending", "decided")) ?? "";
      });
      const written = { lost: null, older, damaged: "[" }[how];
      const lose = (): Promise<void> =>
        hosts.withRecords(user, async (records) => {
          await records.write("pending", id, record);
          if (written === null) await records.remove("pending", "decided");
          else await records.write("pending", "decided", written);
        });
      expect(await one.upkeep.approve(owner(user), id)).toMatchObject({ applied: true });
      for (const decide of ["approve", "reject", "showPending"] as const) {
        await lose();
        await expect(one.upkeep[decide](owner(user), id)).rejects.toEqual(told("was approved at"));
      }
      await lose();
      expect(await one.upkeep.pending(owner(user))).toEqual([]);
      // It takes no room from others that are to wait.
      await hosts.withRecords(user, async (records) => expect(await records.names("pending")).not.toContain(id));
      await lose();
      expect(await one.upkeep.undo(owner(user), { run: "web" })).toMatchObject({ waiting: [] });
      expect(await approvals(one, user)).toBe(1);
    },
  );

  test("after an erasure nothing comes back", async () => {
    const user = newUser();
    for (const isFirst of [true, false]) {
      const id = await wait(user, `erased${isFirst}`);
      await save(one, "own", owner(user));
      const erase = () => one.upkeep.erase(owner(user));
      const approve = () => one.upkeep.approve(owner(user), id);
      const [erased, approved] = await Promise.allSettled(
        isFirst ? [erase(), approve()] : [approve(), erase()].toReversed(),
      );
      if (erased?.status === "rejected") throw erased.reason;
      if (approved?.status === "rejected") expect(approved.reason).toMatchObject({ code: "ENTRY_NOT_FOUND" });
      expect(await one.upkeep.pending(owner(user))).toEqual([]);
      // A mounted folder is not erased.
      if (engine !== "mounted files") expect(await one.upkeep.users()).not.toContain(user);
    }
  });
});

test("an approval that was begun in a mounted folder that nobody can open keeps no other write from a decision", async () => {
  await using hosts = await openHosts("mounted files");
  const [{ upkeep }] = hosts.both;
  const [user = ""] = mountedUsers;
  const [runtime] = hosts.both;
  const inMount = waitingId(await homes.journal(runtime, user, "mounted"));
  const notBegun = waitingId(await homes.journal(runtime, user, "not-begun"));
  const first = waitingId(await homes.memory(runtime, user, "a"));
  const second = waitingId(await homes.memory(runtime, user, "b"));
  const begun = [{ id: inMount, how: "approved", atMs: Date.now(), by: null }];
  await hosts.withRecords(user, (records) => records.write("pending", "decided", JSON.stringify(begun)));
  const notes = join(hosts.folder, "notes", user);
  mkdirSync(notes, { recursive: true });
  renameSync(notes, `${notes}-away`);
  writeFileSync(notes, "");
  expect((await upkeep.pending(owner(user))).map(({ id }) => id)).toEqual([inMount, notBegun, first, second]);
  await upkeep.reject(owner(user), first);
  expect(await upkeep.approve(owner(user), second)).toMatchObject({ applied: true });
  // Nobody knows whether it was made.
  const refused = expect.objectContaining({ code: expect.stringMatching(/^STORAGE_/) as string }) as Error;
  await expect(upkeep.reject(owner(user), inMount)).rejects.toEqual(refused);
  // Nothing says that this one was begun.
  await upkeep.reject(owner(user), notBegun);
  rmSync(notes);
  renameSync(`${notes}-away`, notes);
  await upkeep.reject(owner(user), inMount);
  expect(await upkeep.pending(owner(user))).toEqual([]);
});

test.for(["files", "memory"] as const)(
  "%s: an approval that is killed after its commit, while another one is under way, is not applied twice",
  async (engine) => {
    const plugins = [testPlugin("store-puppet")];
    const events = new EventEmitter();
    // Asked before the second approval holds anything, which has found by then that the write waits.
    const contextualAccess = () => new Promise<null>((answer) => void events.emit("asked", () => answer(null)));
    await using hosts = await openHosts(engine, { plugins, policy: policyFor(plugins), contextualAccess });
    const [one, other] = hosts.both;
    const alice = owner("alice");
    const write = (content: string, ctx = alice) =>
      one.callAsHost(
        "StorePuppet",
        [ask("grant_list", {}), ask("store_write", { scope: "store:self", path: "a.md", content })],
        ctx,
      );
    await write("mine");
    const id = waitingId(await write("of a page", web("alice")));
    const asked = once(events, "asked");
    const stores = [{ id: storeIdOf("bob"), kind: "chat" }] as const;
    const second = Promise.allSettled([other.upkeep.approve({ ...alice, stores }, id)]);
    const [answer] = (await asked) as [() => void];
    let record = "";
    await hosts.withRecords("alice", async (records) => void (record = (await records.read("pending", id)) ?? ""));
    expect(await one.upkeep.approve(alice, id)).toMatchObject({ applied: true });
    await hosts.withRecords("alice", async (records) => {
      await records.write("pending", id, record);
      await records.remove("pending", "decided");
    });
    // The second one would find all as it was shown.
    await write("mine");
    answer();
    expect(await second).toMatchObject([{ status: "rejected", reason: { code: "ENTRY_NOT_FOUND" } }]);
    expect(await approvals(one, "alice")).toBe(1);
    expect(await isActive(one, "alice", "mine")).toBe(true);
  },
);

test.for(oneIn(2, storeKinds))(
  "%s: who is late is told what a write waits as now, and nothing is applied after its time",
  async (engine) => {
    let nowMs = Date.UTC(2026, 0, 1);
    let calls = Infinity;
    const clock = (): number => (calls-- > 0 ? nowMs : (nowMs += calls === -1 ? 31 * dayMs : 0));
    await using hosts = await openHosts(engine, { clock });
    const [runtime] = hosts.both;
    const { upkeep } = runtime;
    const alice = owner("alice");
    await homes.memory(runtime, "alice", "soup");
    const id = waitingId(await homes.memory(runtime, "alice", "cake"));
    await save(runtime, "n", alice, "bread");
    const again = await upkeep.approve(alice, id);
    expect(again).toMatchObject({ applied: false });
    for (const decide of ["approve", "reject", "showPending"] as const) {
      await expect(upkeep[decide](alice, id)).rejects.toEqual(told(`waits as "${again.write.id}"`));
    }
    // The time goes by at each reading of the clock in turn.
    for (let at = 0; at < 8; at++) {
      const late = waitingId(await homes.memory(runtime, "alice", `late${at}`));
      const waiting = (await upkeep.pending(alice)).find((each) => each.id === late);
      calls = at;
      await Promise.allSettled([upkeep.approve(alice, late)]);
      calls = Infinity;
      const version = (await upkeep.history(alice)).find(({ kind }) => kind === "approved");
      expect(version?.at.getTime() ?? 0).toBeLessThanOrEqual(waiting?.expires.getTime() ?? 0);
    }
  },
);
