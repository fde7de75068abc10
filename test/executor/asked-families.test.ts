/** A program's requests to families: each is one operation for closing and for the log, whatever the arguments. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, Runtime, RuntimeOptions } from "memcell";
import { expect, test } from "vitest";

import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";

const alice = { userId: "alice" };

async function withRuntime(
  options: Partial<RuntimeOptions>,
  work: (runtime: Runtime, log: string) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "log", "audit.jsonl");
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({
    dataDir,
    plugins: shippedNames(),
    threadsMax: 1,
    auditLog: { file },
    ...options,
  });
  await work(runtime, file);
}

/** For callers without types. */
const wrong = (value: unknown): never => value as never;

const ways: readonly [name: string, ask: (runtime: Runtime, ctx: CallContext) => Promise<unknown>][] = [
  ["memoryIndex", (runtime, ctx) => runtime.memoryIndex(ctx)],
  ["memoryEntries", (runtime, ctx) => runtime.memoryEntries(ctx)],
];

test.each(ways)("%s requested before close() is answered, and refused afterwards", async (_name, ask) => {
  await withRuntime({}, async (runtime) => {
    const answer = ask(runtime, alice);
    const closed = runtime.close();
    await expect(answer).resolves.toBeDefined();
    await closed;
    await expect(ask(runtime, alice)).rejects.toMatchObject({ name: "ToolError", code: "CLOSED" });
  });
});

test("records a request that no plugin can answer", async () => {
  await withRuntime({}, async (runtime, file) => {
    const family = "none";
    await expect(runtime.memoryIndex(alice, { family })).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
    await expect(runtime.readEntry({ name: "a" }, { userId: "bob" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const calls = readRecords(file).flatMap((record) => (record.kind === "call" ? [record] : []));
    expect(calls).toMatchObject([
      { userId: "alice", tool: null, code: "TOOL_UNKNOWN" },
      { userId: "bob", tool: null, code: "INPUT_INVALID" },
    ]);
  });
});

test("wrong arguments are rejected with a code, and the error repeats nothing of them", async () => {
  await withRuntime({}, async (runtime) => {
    const throwing = {
      get userId(): string {
        throw new Error("/secret/path");
      },
    };
    for (const [asked, code] of [
      [runtime.memoryIndex(throwing), "INTERNAL"],
      [runtime.memoryIndex(wrong(null)), "USER_REQUIRED"],
      [runtime.memoryIndex(alice, wrong({ family: {} })), "INPUT_INVALID"],
      [runtime.memoryEntries(alice, wrong({ family: 5 })), "INPUT_INVALID"],
      [runtime.readEntry(wrong(null), alice), "INPUT_INVALID"],
    ] as const) {
      const failure = await asked.then(String, (error: unknown) => error);
      expect(failure).toMatchObject({ name: "ToolError", code });
      expect(String(failure)).not.toContain("secret");
    }
    await expect(runtime.memoryIndex(alice, wrong(null))).resolves.toBeDefined();
  });
});
