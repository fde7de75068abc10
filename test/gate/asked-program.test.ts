/**
 * The program is asked about a call, and takes its time: nobody else waits for it. What it was shown is what is written. In
 * all stores.
 */
import { EventEmitter, once } from "node:events";

import type { AskedWrite, ContextualAccess, ToolResult, WriteHook } from "memcell";
import { describe, expect, test } from "vitest";

import { waitingId } from "../support/waiting-id.ts";
import { answeredHook, bodyOf, inStore, openAskedStage, storeKinds, upsert } from "./asked-stage.ts";
import type { AskedStage, Question } from "./asked-stage.ts";

const textsOf = ({ files }: AskedWrite): (string | null)[] => files.map(({ text }) => text);

const busy = { ok: false, error: { code: "BUSY" } };

describe.for(storeKinds)("in %s", (kind) => {
  const open = (options: Parameters<typeof openAskedStage>[1], connectionsMax?: number): Promise<AskedStage> =>
    openAskedStage(kind, options, connectionsMax);

  test("an owner does not wait for the hook of a grantee, and what it was shown is written", async () => {
    const hook = answeredHook("grantee");
    await using stage = await open({ onWrite: hook.onWrite }, 1);
    const { runtime } = stage;
    await runtime.stores({ userId: "owner" }).grant("grantee", { level: "readwrite" });
    const writing = inStore(runtime, "grantee", "owner", "a");
    const { write, answer } = await hook.next();
    expect(await inStore(runtime, "owner", "owner", "b")).toMatchObject({ ok: true });
    answer("ok");
    expect(await writing).toMatchObject({ ok: true });
    const { files } = await runtime.upkeep.export({ userId: "owner" });
    const contents = new Set(files.map(({ content }) => Buffer.from(content).toString()));
    const [entry] = textsOf(write);
    expect(contents).toContain(entry);
    expect(await runtime.upkeep.inspect({ userId: "owner" })).toEqual([]);
  });

  test("a hook that others of the same store are asked by as well is asked once by each", async () => {
    const users = Array.from({ length: 6 }, (_, at) => `grantee-${at}`);
    const hook = answeredHook(...users);
    await using stage = await open({ onWrite: hook.onWrite });
    const { runtime } = stage;
    for (const userId of users) await runtime.stores({ userId: "owner" }).grant(userId, { level: "readwrite" });
    const writing = users.map((userId) => inStore(runtime, userId, "owner", "a"));
    const questions: Question[] = [];
    for (const _ of users) questions.push(await hook.next());
    for (const { answer } of questions) answer("ok");
    for (const written of await Promise.all(writing)) expect(written).toMatchObject({ ok: true });
    expect(await runtime.upkeep.inspect({ userId: "owner" })).toEqual([]);
  });

  test("nobody waits for a program that says who reaches a store", async () => {
    const chat = "60000000-0000-4000-8000-000000000006";
    const asked: (() => void)[] = [];
    const events = new EventEmitter();
    const contextualAccess: ContextualAccess = async (_id, { userId }) => {
      if (userId === "slow") {
        await new Promise<void>((resolve) => {
          asked.push(resolve);
          events.emit("asked");
        });
      }
      return { kind: "chat" };
    };
    await using stage = await open({ contextualAccess }, 1);
    const create = (userId: string, name: string): Promise<ToolResult> =>
      stage.runtime.callAsHost(
        "memory",
        { command: "create", path: `/memories/shared/${chat}/${name}`, content: name },
        { userId },
      );
    let isAsked = once(events, "asked");
    const writing = create("slow", "a");
    // Before it opens the store, and before it writes.
    for (const name of ["b", "c"]) {
      await isAsked;
      expect(await create("quick", name)).toMatchObject({ ok: true });
      isAsked = once(events, "asked");
      asked.shift()?.();
    }
    expect(await writing).toMatchObject({ ok: true });
  });

  test("users whose hook takes long keep no place, thread and connection", async () => {
    // More than are served at once, or than there are connections.
    const users = Array.from({ length: kind === "memory" ? 70 : 4 }, (_, at) => `user-${at}`);
    const hook = answeredHook(...users);
    await using stage = await open({ onWrite: hook.onWrite, threadsMax: 1 }, 2);
    const { runtime } = stage;
    const writing = users.map((userId) => upsert(runtime, userId, "a"));
    const allAsked = async (): Promise<Question[]> => {
      const questions: Question[] = [];
      while (questions.length < users.length) questions.push(await hook.next());
      return questions;
    };
    const questions = (await Promise.race([allAsked(), ...writing])) as Question[];
    expect(questions).toHaveLength(users.length);
    const other = upsert(runtime, "another", "a").then(() => "another user's call");
    expect(await Promise.race([other, ...writing])).toBe("another user's call");
    for (const { answer } of questions) answer("ok");
    for (const written of await Promise.all(writing)) expect(written).toMatchObject({ ok: true });
  });

  test("it is asked once about a write, whatever the time, and a second call asks again", async () => {
    let nowMs = 1_700_000_000_000;
    const seen: AskedWrite[] = [];
    const onWrite: WriteHook = (write) => {
      seen.push(write);
      return "ok";
    };
    await using stage = await open({ onWrite, clock: () => (nowMs += 1_000) });
    const { runtime } = stage;
    expect(await upsert(runtime, "alice", "a")).toMatchObject({ ok: true });
    expect(seen).toHaveLength(1);
    const { files } = await runtime.upkeep.export({ userId: "alice" });
    const written = new Map(files.map(({ path, content }) => [path, Buffer.from(content).toString()]));
    for (const { path, text } of seen[0]?.files ?? []) expect(written.get(path)).toBe(text);
    expect(await upsert(runtime, "alice", "a")).toMatchObject({ ok: true });
    expect(seen).toHaveLength(2);
  });

  test("what it raises waits as it was shown", async () => {
    const seen: AskedWrite[] = [];
    const onWrite: WriteHook = (write) => {
      seen.push(write);
      return "raise";
    };
    await using stage = await open({ onWrite });
    const id = waitingId(await upsert(stage.runtime, "alice", "a"));
    const shown = await stage.runtime.upkeep.showPending({ userId: "alice" }, id);
    expect(shown.files.map(({ text }) => text)).toEqual(textsOf(seen[0] as AskedWrite));
    expect(shown.isCurrent).toBe(true);
    expect(await bodyOf(stage.runtime, "alice", "a")).toBe("ENTRY_NOT_FOUND");
    expect(seen).toHaveLength(1);
  });

  test("a hook can read what the user has, and write for others, but not for the user", async () => {
    const found: unknown[] = [];
    const onWrite = async ({ userId }: AskedWrite): Promise<"ok"> => {
      if (userId !== "alice") return "ok";
      found.push(await stage.runtime.memoryIndex({ userId }), await bodyOf(stage.runtime, userId, "old"));
      found.push(await upsert(stage.runtime, "log", "note"), await upsert(stage.runtime, userId, "b"));
      return "ok";
    };
    await using stage = await open({ onWrite });
    expect(await upsert(await stage.another(), "alice", "old", "was there")).toMatchObject({ ok: true });
    expect(await upsert(stage.runtime, "alice", "a")).toMatchObject({ ok: true });
    expect(found).toMatchObject([expect.stringContaining("old"), "was there", { ok: true }, busy]);
    expect(await bodyOf(stage.runtime, "alice", "b")).toBe("ENTRY_NOT_FOUND");
    expect(await bodyOf(stage.runtime, "log", "note")).toBe("text");
  });

  test("a program that is asked who reaches a store can read for the user", async () => {
    const contextualAccess: ContextualAccess = async (id, { userId }) => {
      const view = { command: "view", path: `/memories/shared/${id}/` };
      found.push(
        await stage.runtime.memoryIndex({ userId }),
        await stage.runtime.callAsHost("memory", view, { userId }),
      );
      return { kind: "chat" };
    };
    const found: unknown[] = [];
    await using stage = await open({ contextualAccess });
    expect(await inStore(stage.runtime, "alice", "bob", "a")).toMatchObject({ ok: true });
    expect(found.slice(0, 2)).toMatchObject([expect.any(String), busy]);
  });

  test("if another host has changed the files meanwhile, it is asked about what would be written now", async () => {
    const seen: AskedWrite[] = [];
    let changes = 1;
    const onWrite = async (write: AskedWrite): Promise<"ok"> => {
      seen.push(write);
      if (changes-- > 0) expect(await upsert(other, "alice", "menu", `Cake ${changes}`)).toMatchObject({ ok: true });
      return "ok";
    };
    await using stage = await open({ onWrite });
    const other = await stage.another();
    expect(await upsert(stage.runtime, "alice", "menu", "Soup")).toMatchObject({ ok: true });
    expect(seen).toHaveLength(2);
    expect(await bodyOf(other, "alice", "menu")).toBe("Soup");
    const { files } = await other.upkeep.export({ userId: "alice" });
    const menu = files.find(({ path }) => path === "menu.md");
    expect(Buffer.from(menu?.content ?? []).toString()).toBe(
      seen[1]?.files.find(({ path }) => path === "menu.md")?.text,
    );
    changes = 10;
    const message = expect.stringContaining("each of the 4 times that onWrite was asked") as string;
    const given = await upsert(stage.runtime, "alice", "menu", "Bread");
    expect(given).toMatchObject({ ok: false, error: { code: "BUSY", message } });
    expect(seen).toHaveLength(6);
    expect(await bodyOf(other, "alice", "menu")).toMatch(/^Cake/);
  });

  test("a caller that is cancelled waits no longer for it, nothing is written, and the next call runs", async () => {
    const hook = answeredHook("alice");
    await using stage = await open({ onWrite: hook.onWrite });
    const controller = new AbortController();
    const writing = upsert(stage.runtime, { userId: "alice", signal: controller.signal }, "a");
    await hook.next();
    controller.abort();
    expect(await writing).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(await bodyOf(stage.runtime, "alice", "a")).toBe("ENTRY_NOT_FOUND");
    expect(await stage.runtime.upkeep.pending({ userId: "alice" })).toEqual([]);
  });

  test("closing ends the wait", async () => {
    const hook = answeredHook("alice");
    await using stage = await open({ onWrite: hook.onWrite, closeGraceMs: 1 });
    const writing = upsert(stage.runtime, "alice", "a");
    await hook.next();
    await stage.runtime.close();
    expect(await writing).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  test("its time does not count as waiting, nor as the guest's", async () => {
    const hook = answeredHook("alice");
    await using stage = await open({ onWrite: hook.onWrite, waitMs: 1_000 });
    const writing = upsert(stage.runtime, "alice", "a");
    const { answer } = await hook.next();
    setTimeout(() => answer("ok"), 1_200);
    expect(await writing).toMatchObject({ ok: true });
  });
});
