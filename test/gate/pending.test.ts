/** Writes that wait for the owner of the memory: who gets to wait, and what becomes of a decision. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import type { CallContext, PendingNotice, Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pendingIdOf } from "../stage/pending.ts";
import type { PendingWrite } from "../stage/pending.ts";
import { scopeOfStore } from "../stage/store.ts";
import { ask } from "../stores/store-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";
import { bodyOf, dayMs, inRun, openGateStage, owner, save, trusting, waits, web } from "./gate-stage.ts";
import type { GateStage } from "./gate-stage.ts";

describe.for(["files", "memory"] as const)("in %s", (kind) => {
  let stage: GateStage;
  let runtime: Runtime;
  let nowMs = Date.now();
  let users = 0;
  /** A user who has written something. */
  const newUser = async (): Promise<string> => {
    const userId = `user-${(users += 1)}`;
    expect(await save(runtime, "mine", inRun(userId, "mine"))).toMatchObject({ ok: true });
    return userId;
  };
  beforeAll(async () => {
    stage = await openGateStage(kind);
    runtime = await stage.open({ clock: () => nowMs++ });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("a write to a store waits once, after the program has vouched again for what its guest has read", async () => {
    const plugins = [testPlugin("store-puppet")];
    let answers = 0;
    let isLeft = false;
    const contextualAccess = (): { kind: "chat" } | null => ((answers += 1) > 1 && isLeft ? null : { kind: "chat" });
    const asking = await stage.open({ plugins, policy: policyFor(plugins), contextualAccess });
    const told: PendingNotice[] = [];
    asking.onPending((notice) => void told.push(notice));
    const ctx = { ...web("vouched"), stores: [{ id: storeIdOf("bob"), kind: "chat" as const }] };
    const steps = [
      ask("store_read", { scope: scopeOfStore(storeIdOf("bob")), path: "b.md" }),
      ask("store_write", { scope: "store:self", path: "a.md", content: "A" }),
    ];
    const call = (): Promise<ToolResult> => asking.callAsHost("StorePuppet", steps, ctx);
    const id = waitingId(await call());
    expect(answers).toBe(2);
    expect(await asking.upkeep.pending(owner("vouched"))).toMatchObject([{ id }]);
    [answers, isLeft] = [0, true];
    expect(await call()).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    expect(await asking.upkeep.pending(owner("vouched"))).toHaveLength(1);
    expect(told).toMatchObject([{ id }]);
  });

  test("what a run has read counts for every tool that writes, also for one of programs", async () => {
    const userId = await newUser();
    await stage.poison(userId);
    const ctx = inRun(userId, "reader");
    expect(await runtime.call("ReadUserMemory", { name: "page" }, ctx)).toMatchObject({ ok: true });
    await waits(runtime.callAsHost("SetInternal", { key: "k", value: "of a page" }, ctx));
    const other = inRun(userId, "other");
    expect(await runtime.callAsHost("SetInternal", { key: "k", value: "mine" }, other)).toMatchObject({ ok: true });
  });

  test("what a call wants to write in the own store waits in its user's home, for runs and for others", async () => {
    const { userId, origin } = web(await newUser());
    for (const [at, run] of [undefined, "r"].entries()) {
      const ctx = { userId, origin: { ...origin, class: "tool_external" as const, run } };
      const input = { command: "create", path: `/memories/${at}.md`, file_text: "x" };
      await waits(runtime.callAsHost("stores/AnthropicMemory", input, ctx));
    }
    expect(await runtime.upkeep.pending(owner(userId))).toHaveLength(2);
  });

  test("an approval applies what was shown, and it is trusted as the owner's", async () => {
    const alice = await newUser();
    const source = "https://x.example";
    const answer = await save(runtime, "menu", { userId: alice, origin: { class: "tool_external", run: "r", source } });
    expect(answer).toMatchObject({ error: { code: "WRITE_PENDING", blame: "caller", retryable: false } });
    const id = await waits(Promise.resolve(answer));
    expect(id).toMatch(/^w-/);
    expect((await runtime.upkeep.history(owner(alice))).map(({ path }) => path)).not.toContain("menu.md");
    const shown = await runtime.upkeep.showPending(owner(alice), id);
    expect(shown).toMatchObject({ id, isCurrent: true, trust: "tool_external", run: "r", source });
    const file = shown.files.find(({ path }) => path === "menu.md");
    expect(file).toMatchObject({ change: "create", isDerived: false, present: null });
    await save(runtime, "other", inRun(alice, "mine"));
    expect(await runtime.upkeep.approve(owner(alice), id)).toMatchObject({ applied: true, write: { id } });
    const { files } = await runtime.upkeep.export(owner(alice));
    expect(files.find(({ path }) => path === "menu.md")?.content.toString()).toBe(file?.text);
    expect(await runtime.memoryIndex(owner(alice), { family: "user-memory" })).toContain("About menu");
    const [version] = await runtime.upkeep.history(owner(alice), { path: "menu.md" });
    const approved = {
      kind: "approved",
      class: "tool_external",
      trust: "owner_edit",
      run: "r",
      tool: "UpdateUserMemory",
    };
    expect(version).toMatchObject(approved);
    expect(await runtime.upkeep.pending(owner(alice))).toEqual([]);
    expect(await runtime.upkeep.inspect(owner(alice))).toEqual([]);
  });

  test("a write waits for 30 days", async () => {
    const alice = await newUser();
    const id = await waits(save(runtime, "menu", web(alice)));
    nowMs += 30 * dayMs - 1_000;
    expect(await runtime.upkeep.pending(owner(alice))).toHaveLength(1);
    nowMs += 1_001;
    expect(await runtime.upkeep.pending(owner(alice))).toEqual([]);
    await expect(runtime.upkeep.approve(owner(alice), id)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("an approval applies its own write, also if another one of the same call was applied before", async () => {
    const alice = await newUser();
    const remove = () =>
      waits(runtime.call("UpdateUserMemory", { action: "delete", name: "mine" }, { ...web(alice), callId: "turn-1" }));
    const [first, second] = [await remove(), await remove()];
    expect(await runtime.upkeep.approve(owner(alice), first)).toMatchObject({ applied: true });
    await save(runtime, "mine", inRun(alice, "mine"), "two");
    expect(await runtime.upkeep.approve(owner(alice), second)).toMatchObject({ applied: false });
    expect(await bodyOf(runtime, alice, "mine")).toBe("two");
  });

  test("a policy can refuse writes, and the program is asked about no others than those that would take effect", async () => {
    const seen: unknown[] = [];
    const policy = trustingPolicy({ active: "direct_user", pending: "model_inference" });
    const onWrite = (write: unknown): "ok" => {
      seen.push(write);
      return "ok";
    };
    const strict = await stage.open({ policy, onWrite });
    expect(await save(strict, "a", inRun("asked", "r"))).toMatchObject({ ok: true });
    const facts = { userId: "asked", tool: "UpdateUserMemory", plugin: "user-memory", trust: "direct_user" };
    expect(seen).toMatchObject([{ ...facts, files: [{ path: "a.md" }, {}] }]);
    await waits(save(strict, "b", inRun("asked", "r", "model_inference")));
    const message = expect.stringContaining("model_inference and above") as string;
    const refused = await save(strict, "c", inRun("asked", "tool", "tool_internal"));
    expect(refused).toMatchObject({ error: { code: "WRITE_REFUSED", message } });
    expect(seen).toHaveLength(1);
  });

  test("a call that is cancelled after its commit is a success, and lowers its run all the same", async () => {
    const lax = await stage.open({ policy: trusting() });
    await lax.call("memory_write", { key: "k", content: "of a page", target: "summary" }, web("cancelled"));
    const ending = new AbortController();
    lax.onChange(() => ending.abort());
    const ctx = { ...inRun("cancelled", "r", "model_inference"), signal: ending.signal };
    expect(await lax.call("memory_update", { key: "k", content: "changed" }, ctx)).toMatchObject({ ok: true });
    await waits(save(runtime, "later", inRun("cancelled", "r", "model_inference")));
  });
});

describe("on the disk", () => {
  let stage: GateStage;
  beforeAll(async () => {
    stage = await openGateStage("files");
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("the program is told of each write that waits, before its caller, and of nothing else", async () => {
    const runtime = await stage.open({});
    const told: PendingNotice[] = [];
    const stop = runtime.onPending((notice) => {
      told.push(notice);
      throw new Error("A listener changes nothing");
    });
    await save(runtime, "mine", inRun("told", "chat-7"));
    const ctx = { ...web("told"), callId: "call-9", origin: { class: "tool_external", run: "chat-7" } } as const;
    const result = await save(runtime, "page", ctx);
    const pending = result.ok ? undefined : result.pending;
    expect(pending).toBeDefined();
    expect(told).toEqual([{ userId: "told", tool: "UpdateUserMemory", callId: "call-9", run: "chat-7", ...pending }]);
    expect(await runtime.upkeep.pending(owner("told"))).toMatchObject([{ id: told[0]?.id }]);
    await runtime.upkeep.approve(owner("told"), told[0]?.id ?? "");
    stop();
    await save(runtime, "other", ctx);
    expect(told).toHaveLength(1);
  });

  test("an undo since a time leaves what somebody has edited by hand before it", async () => {
    let nowMs = Date.now() - 3_600_000;
    const runtime = await stage.open({ clock: () => nowMs });
    await save(runtime, "a", inRun("bob", "mine"), "one");
    const { files } = await runtime.upkeep.export(owner("bob"));
    const own = Buffer.from(files.find(({ path }) => path === "a.md")?.content ?? []).toString();
    const file = join(userFolder(stage.path, "bob"), "memory", "a.md");
    writeFileSync(file, own.replace("one", "edited by hand"));
    const since = new Date((nowMs += 60_000));
    await save(runtime, "a", inRun("bob", "bad"), "bad");
    await runtime.upkeep.undo(owner("bob"), { since });
    expect(await bodyOf(runtime, "bob", "a")).toBe("edited by hand");
  });

  test("a program that says nothing of origins writes on when the history was lost; one that does has to wait", async () => {
    const before = await stage.open();
    await save(before, "a", inRun("carol", "mine"), "one");
    await before.close();
    rmSync(stage.own("carol", "journal"), { recursive: true });
    const runtime = await stage.open();
    await waits(save(runtime, "a", inRun("carol", "mine"), "two"));
    expect(await save(runtime, "a", owner("carol"), "three")).toMatchObject({ ok: true });
    const [version] = await runtime.upkeep.history(owner("carol"), { path: "a.md" });
    expect(version).toMatchObject({ trust: "untrusted_document" });
  });

  test("an index does not lower a write that reads it, also if the policy has no tool that makes it", async () => {
    const policy = trusting();
    const memory = policy.plugins["user-memory"];
    if (memory === undefined) return expect.fail("There is no user-memory");
    const { InspectMemory: _, ...tools } = memory.tools;
    const plugins = { ...policy.plugins, "user-memory": { ...memory, tools } };
    const runtime = await stage.open({ policy: { ...policy, plugins } });
    await save(runtime, "menu", web("dave"), "Soup");
    await save(runtime, "editor", inRun("dave", "mine"), "vim");
    const [version] = await runtime.upkeep.history(owner("dave"), { path: "editor.md" });
    expect(version).toMatchObject({ trust: "direct_user" });
  });

  test("the bytes of waiting writes are bounded for a run and for a user, and who decides makes room", async () => {
    const alice = owner("bytes");
    const runtime = await stage.open({ plugins: ["journal"], clock: () => Date.parse("2026-01-01T12:00:00Z") });
    const write = (key: string, ctx: CallContext) =>
      runtime.call("memory_write", { key, content: "page\n".repeat(13_000) }, ctx);
    expect(await write("mine", inRun("bytes", "mine"))).toMatchObject({ ok: true });
    // So large that each write to it that waits takes almost as much as one may.
    const day = join(userFolder(stage.path, "bytes"), "journal/2026/01/01.md");
    const block = readFileSync(day, "utf8");
    writeFileSync(day, Array.from({ length: 14 }, (_, at) => block.replace("mine", `mine-${at}`)).join(""));
    const page = (run: string) => write("page", web("bytes", run));
    const expectFull = async (run: string, message: RegExp) =>
      expect(await page(run)).toMatchObject({
        error: { code: "QUOTA_EXCEEDED", message: expect.stringMatching(message) },
      });

    // One run leaves others their share.
    const first = waitingId(await page("first"));
    let ofRun = 1;
    for (; ; ofRun++) {
      const answer = await page("first");
      if (!answer.ok && answer.error.code !== "WRITE_PENDING") break;
    }
    expect(ofRun).toBeGreaterThan(1);
    await expectFull(
      "first",
      /the records of the writes of this run .* at most 4194304 allowed; the owner can approve/,
    );
    const second = waitingId(await page("second"));

    // More than may wait, as of a host that had no bound: they are listed, decided and undone.
    const pending = stage.own("bytes", "pending");
    const { id: _, ...facts } = JSON.parse(readFileSync(join(pending, `${second}.json`), "utf8")) as PendingWrite;
    for (let at = 0; at < 20; at++) {
      const other = { ...facts, callId: `call-${at}` };
      const id = pendingIdOf(other);
      writeFileSync(join(pending, `${id}.json`), JSON.stringify({ id, ...other }));
    }
    await expectFull("third", /the records of the writes that wait .* at most 16777216 allowed; the owner can approve/);
    const { upkeep } = runtime;
    expect(await upkeep.pending(alice)).toHaveLength(ofRun + 21);
    expect(await upkeep.showPending(alice, second)).toMatchObject({ id: second, isCurrent: true });
    // What the owner decides is never refused for its bytes: it waits again, under another id.
    await write("later", inRun("bytes", "mine"));
    const again = await upkeep.approve(alice, second);
    expect(again.applied).toBe(false);
    expect(await upkeep.approve(alice, again.write.id)).toMatchObject({ applied: true });
    await upkeep.reject(alice, first);
    const planned = await upkeep.planUndo(alice, { run: "second" });
    expect(planned.waiting).toHaveLength(20);
    expect((await upkeep.undo(alice, { run: "second" })).waiting).toEqual(planned.waiting);
    waitingId(await page("third"));
  });
});
