/** A runtime can be closed in any state. Nothing acknowledged is lost, and nothing of the runtime remains. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { ToolResult } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { openBoundedStage, writing } from "./bounded-stage.ts";

const closedMeanwhile = (tool: string): object => ({
  ok: false,
  error: {
    code: "CANCELLED",
    message: `Cannot call ${tool}: the runtime was closed before it had ended`,
  },
});

test("running and waiting calls finish, later ones are CLOSED", async () => {
  await using stage = await openBoundedStage();
  const calls = Array.from({ length: 60 }, (_, at) => stage.write(`user-${at % 3}`, `${at}.md`));
  const closing = stage.runtime.close();
  const late = await stage.write("user-0", "late.md");
  expect(late).toMatchObject({ ok: false, error: { code: "CLOSED" } });
  for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: true });
  await closing;
  const present = [0, 1, 2].flatMap((user) => Object.keys(stage.filesOf(`user-${user}`)));
  expect(present).toHaveLength(60);
});

test("after the grace period, a spinning guest and the calls waiting for it are CANCELLED", async () => {
  await using stage = await openBoundedStage({ closeGraceMs: 300 });
  const spinning = stage.spin("alice");
  await stage.handedOut(1);
  const behind = stage.write("alice", "a.md");
  const forThread = stage.write("bob", "b.md");
  await stage.runtime.close();
  expect(await spinning).toMatchObject(closedMeanwhile("Spin"));
  expect(await behind).toMatchObject(closedMeanwhile("Puppet"));
  expect(await forThread).toMatchObject(closedMeanwhile("Puppet"));
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("a commit that has begun finishes, however short the grace period is", async () => {
  const closings: Promise<void>[] = [];
  const close = (): void => void closings.push(stage.runtime.close());
  const stage = await openBoundedStage({ closeGraceMs: 1, onLog: () => queueMicrotask(close) });
  await using _closing = stage;
  const step = { log: "x", times: 1 };
  const result = await stage.runtime.call("Puppet", [writing("a.md"), step], { userId: "alice" });
  await Promise.all(closings);
  expect(result).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "of a.md" });
});

test("when the grace period ends during a flood, acknowledged files are on disk and no others", async () => {
  await using stage = await openBoundedStage({ closeGraceMs: 40, threadsMax: 2 });
  await stage.write("user-0", "first.md");
  const calls = Array.from({ length: 500 }, (_, at) => ({ userId: `user-${at % 5}`, path: `${at}.md` }));
  const results = calls.map(({ userId, path }) => stage.write(userId, path));
  await stage.runtime.close();
  const ended = await Promise.all(results);
  for (const [at, { userId, path }] of calls.entries()) {
    const result = ended[at] as ToolResult;
    if (!result.ok) expect(result).toMatchObject(closedMeanwhile("Puppet"));
    expect(stage.filesOf(userId)[`memory/${path}`]).toBe(result.ok ? `of ${path}` : undefined);
  }
});

test("closing twice, even at the same time, returns the same promise", async () => {
  await using stage = await openBoundedStage();
  const call = stage.write("alice", "a.md");
  const first = stage.runtime.close();
  expect(stage.runtime.close()).toBe(first);
  expect(stage.runtime[Symbol.asyncDispose]()).toBe(first);
  await first;
  expect(stage.runtime.close()).toBe(first);
  expect(await call).toMatchObject({ ok: true });
});

test("a running upkeep operation finishes, and later ones are CLOSED", async () => {
  await using stage = await openBoundedStage({ plugins: [shippedPlugin("user-memory")] });
  const { runtime } = stage;
  const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "" };
  await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "x" }, { userId: "alice" });
  const restoring = runtime.upkeep.restore({ userId: "alice" }, "x");
  const closing = runtime.close();
  await expect(runtime.upkeep.listTrash({ userId: "alice" })).rejects.toMatchObject({ code: "CLOSED" });
  expect(await restoring).toMatchObject({ path: "x.md" });
  await closing;
  expect(Object.keys(stage.filesOf("alice"))).toContain("memory/x.md");
});

const script = fileURLToPath(
  new URL("dist/test/bounds/closing-process.js", import.meta.resolve("memcell/package.json")),
);

test.for(["idle", "after calls", "after a deadline", "after a cancelled call", "amid a spinning guest"])(
  "a process that closes a runtime %s ends on its own, and nothing of the runtime remains",
  async (state) => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, state], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual({ state, left: [], threads: 0 });
  },
);

test("closing runtimes while their threads start does not crash the process", async () => {
  using folder = temporaryFolder();
  const reopening = script.replace("closing-process", "reopening-process");
  const { stdout } = await promisify(execFile)(process.execPath, [reopening, folder.path, "75"], { encoding: "utf8" });
  expect(stdout).toBe("ended well");
});
