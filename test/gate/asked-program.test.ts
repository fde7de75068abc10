/**
 * The program is asked about a call, and takes its time: nobody else waits for it. What it was shown is what is written. In
 * all stores.
 */
import { EventEmitter, once } from "node:events";

import { storeIdOf } from "memcell";
import type { AskedWrite, ContextualAccess, Runtime, ToolResult, WriteHook } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { steppedUptime } from "../support/stepped-uptime.ts";
import { waitingId } from "../support/waiting-id.ts";
import { bodyOf, openGateStage, owner, save } from "./gate-stage.ts";
import type { GateStage } from "./gate-stage.ts";

const textsOf = ({ files }: AskedWrite): (string | null)[] => files.map(({ text }) => text);
const busy = { ok: false, error: { code: "BUSY" } };

const inStore = (runtime: Runtime, userId: string, of: string, name: string): Promise<ToolResult> => {
  const folder = userId === of ? "/memories/" : `/memories/shared/${storeIdOf(of)}/`;
  return runtime.callAsHost("memory", { command: "create", path: `${folder}${name}`, content: name }, { userId });
};

interface Question {
  readonly write: AskedWrite;
  readonly answer: (answer: "ok" | "raise") => void;
}

/** A hook that the test answers for: about the users that it names. */
function answeredHook(...users: readonly string[]): { onWrite: WriteHook; next: () => Promise<Question> } {
  const questions: Question[] = [];
  const events = new EventEmitter();
  const onWrite: WriteHook = (write) => {
    if (!users.includes(write.userId)) return "ok";
    return new Promise((answer) => {
      questions.push({ write, answer });
      events.emit("asked");
    });
  };
  const next = async (): Promise<Question> => {
    for (;;) {
      const question = questions.shift();
      if (question !== undefined) return question;
      await once(events, "asked");
    }
  };
  return { onWrite, next };
}

describe.for(["files", ...oneIn(2, ["memory", "PostgreSQL"] as const)] as const)("in %s", (kind) => {
  let stage: GateStage;
  beforeAll(async () => {
    stage = await openGateStage(kind);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("grantees of one store are asked once each, its owner waits for none of them, and what they were shown is written", async () => {
    const users = [1, 2, 3].map((at) => `grantee-${at}`);
    const hook = answeredHook(...users);
    await using narrow = await openGateStage(kind, 2);
    const runtime = await narrow.open({ onWrite: hook.onWrite });
    for (const userId of users) await runtime.stores(owner("owner")).grant(userId, { level: "readwrite" });
    const writing = users.map((userId) => inStore(runtime, userId, "owner", userId));
    const questions: Question[] = [];
    for (const _ of users) questions.push(await hook.next());
    expect(await inStore(runtime, "owner", "owner", "b")).toMatchObject({ ok: true });
    for (const { answer } of questions) answer("ok");
    for (const written of await Promise.all(writing)) expect(written).toMatchObject({ ok: true });
    const { files } = await runtime.upkeep.export(owner("owner"));
    const texts = files.map(({ content }) => Buffer.from(content).toString());
    for (const { write } of questions) expect(texts).toContain(textsOf(write)[0]);
    expect(await runtime.upkeep.inspect(owner("owner"))).toEqual([]);
  });

  test("nobody waits for a program that says who reaches a store", async () => {
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
    await using narrow = await openGateStage(kind, 1);
    const runtime = await narrow.open({ contextualAccess });
    let isAsked = once(events, "asked");
    const writing = inStore(runtime, "slow", "chat", "a");
    // Before it opens the store, and before it writes.
    for (const name of ["b", "c"]) {
      await isAsked;
      expect(await inStore(runtime, "quick", "chat", name)).toMatchObject({ ok: true });
      isAsked = once(events, "asked");
      asked.shift()?.();
    }
    expect(await writing).toMatchObject({ ok: true });
  });

  test("users whose hook takes long keep no place, thread and connection", async () => {
    // More than are served at once, or than there are connections.
    const users = Array.from({ length: kind === "memory" ? 70 : 4 }, (_, at) => `user-${at}`);
    const hook = answeredHook(...users);
    await using narrow = await openGateStage(kind, 2);
    const runtime = await narrow.open({ onWrite: hook.onWrite });
    const writing = users.map((userId) => save(runtime, "a", owner(userId)));
    const allAsked = async (): Promise<Question[]> => {
      const questions: Question[] = [];
      while (questions.length < users.length) questions.push(await hook.next());
      return questions;
    };
    const questions = (await Promise.race([allAsked(), ...writing])) as Question[];
    expect(questions).toHaveLength(users.length);
    const other = save(runtime, "a", owner("another")).then(() => "another user's call");
    expect(await Promise.race([other, ...writing])).toBe("another user's call");
    for (const { answer } of questions) answer("ok");
    for (const written of await Promise.all(writing)) expect(written).toMatchObject({ ok: true });
  });

  test("it is asked once about a write, whatever the time; a second call asks again, and what it raises waits", async () => {
    let nowMs = 1_700_000_000_000;
    const seen: AskedWrite[] = [];
    let answer: "ok" | "raise" = "ok";
    const onWrite: WriteHook = (write) => {
      seen.push(write);
      return answer;
    };
    const runtime = await stage.open({ onWrite, clock: () => (nowMs += 1_000) });
    expect(await save(runtime, "a", owner("timed"))).toMatchObject({ ok: true });
    expect(seen).toHaveLength(1);
    const { files } = await runtime.upkeep.export(owner("timed"));
    const written = new Map(files.map(({ path, content }) => [path, Buffer.from(content).toString()]));
    for (const { path, text } of seen[0]?.files ?? []) expect(written.get(path)).toBe(text);
    answer = "raise";
    const id = waitingId(await save(runtime, "b", owner("timed")));
    const shown = await runtime.upkeep.showPending(owner("timed"), id);
    expect(shown.files.map(({ text }) => text)).toEqual(textsOf(seen[1] as AskedWrite));
    expect(shown.isCurrent).toBe(true);
    expect(await bodyOf(runtime, "timed", "b")).toBe("ENTRY_NOT_FOUND");
    expect(seen).toHaveLength(2);
  });

  test("a hook can read what the user has, and write for others, but not for the user", async () => {
    const found: unknown[] = [];
    const onWrite = async ({ userId }: AskedWrite): Promise<"ok"> => {
      if (userId !== "read") return "ok";
      found.push(await runtime.memoryIndex({ userId }), await bodyOf(runtime, userId, "old"));
      found.push(await save(runtime, "note", owner("log")), await save(runtime, "b", owner(userId)));
      return "ok";
    };
    const runtime = await stage.open({ onWrite });
    expect(await save(await stage.open(), "old", owner("read"), "was there")).toMatchObject({ ok: true });
    expect(await save(runtime, "a", owner("read"))).toMatchObject({ ok: true });
    expect(found).toMatchObject([expect.stringContaining("old"), "was there", { ok: true }, busy]);
    expect(await bodyOf(runtime, "read", "b")).toBe("ENTRY_NOT_FOUND");
    expect(await bodyOf(runtime, "log", "note")).toBe("x");
  });

  test("a program that is asked who reaches a store can read for the user", async () => {
    const found: unknown[] = [];
    const contextualAccess: ContextualAccess = async (id, { userId }) => {
      const view = { command: "view", path: `/memories/shared/${id}/` };
      found.push(await runtime.memoryIndex({ userId }), await runtime.callAsHost("memory", view, { userId }));
      return { kind: "chat" };
    };
    const runtime = await stage.open({ contextualAccess });
    expect(await inStore(runtime, "asking", "asked", "a")).toMatchObject({ ok: true });
    expect(found.slice(0, 2)).toMatchObject([expect.any(String), busy]);
  });

  test("if another host has changed the files meanwhile, it is asked about what would be written now", async () => {
    const seen: AskedWrite[] = [];
    let changes = 1;
    const other = await stage.open();
    const onWrite = async (write: AskedWrite): Promise<"ok"> => {
      seen.push(write);
      if (changes-- > 0) await save(other, "menu", owner("changed"), `Cake ${changes}`);
      return "ok";
    };
    const runtime = await stage.open({ onWrite });
    expect(await save(runtime, "menu", owner("changed"), "Soup")).toMatchObject({ ok: true });
    expect(seen).toHaveLength(2);
    expect(await bodyOf(other, "changed", "menu")).toBe("Soup");
    const { files } = await other.upkeep.export(owner("changed"));
    const menu = files.find(({ path }) => path === "menu.md");
    const shown = seen[1]?.files.find(({ path }) => path === "menu.md");
    expect(Buffer.from(menu?.content ?? []).toString()).toBe(shown?.text);
    changes = 10;
    const message = expect.stringContaining("each of the 4 times that onWrite was asked") as string;
    const given = await save(runtime, "menu", owner("changed"), "Bread");
    expect(given).toMatchObject({ ok: false, error: { code: "BUSY", message } });
    expect(seen).toHaveLength(6);
    expect(await bodyOf(other, "changed", "menu")).toMatch(/^Cake/);
  });

  test("a caller that is cancelled waits no longer for it, nothing is written, and closing ends the wait", async () => {
    const hook = answeredHook("cancelled");
    const runtime = await stage.open({ onWrite: hook.onWrite, closeGraceMs: 1 });
    const controller = new AbortController();
    const writing = save(runtime, "a", { userId: "cancelled", signal: controller.signal });
    await hook.next();
    controller.abort();
    expect(await writing).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(await bodyOf(runtime, "cancelled", "a")).toBe("ENTRY_NOT_FOUND");
    expect(await runtime.upkeep.pending(owner("cancelled"))).toEqual([]);
    const other = save(runtime, "b", owner("cancelled"));
    await hook.next();
    await runtime.close();
    expect(await other).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  test("its time does not count as waiting, nor as the guest's", async () => {
    using uptime = steppedUptime();
    const hook = answeredHook("late");
    const runtime = await stage.open({ onWrite: hook.onWrite, waitMs: 4_000 });
    const writing = save(runtime, "a", owner("late"));
    const { answer } = await hook.next();
    uptime.step(4_500);
    answer("ok");
    expect(await writing).toMatchObject({ ok: true });
  });
});
