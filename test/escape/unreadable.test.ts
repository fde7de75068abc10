/** Folders and files that the host may not open: a coded error without the system's words, and other calls succeed. */
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

const failed = "STORAGE_FAILED";
/** A forbidden file is like one that is no plain file. */
const unsafe = "STORAGE_UNSAFE";

/** What becomes of a reading, the index, a replacement and a deletion, by the place that may not be opened. */
const rows: Readonly<Record<string, readonly [read: string, index: string, upsert: string, remove: string]>> = {
  "": [failed, failed, failed, failed],
  memory: [failed, failed, failed, failed],
  // A replacement that is not larger does not read the trash.
  "memory/trash": ["ok", "ok", "ok", failed],
  "memory/x.md": [unsafe, "ok", unsafe, unsafe],
  "memory/MEMORY.md": ["ok", unsafe, unsafe, unsafe],
  ".memcell": [failed, failed, failed, failed],
  ".memcell/owner": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/lock": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/turnstile": [unsafe, unsafe, unsafe, unsafe],
  ".memcell/journal": [unsafe, unsafe, unsafe, unsafe],
};

/** Root may open everything, so the tests run as the user nobody. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const folder = temporaryFolder();
const fact = (name: string) => ({ action: "upsert", name, type: "user", description: "d", body: "of a user" });
const remove = (name: string) => ({ action: "delete", name });
const open = (): Promise<Runtime> => createRuntime({ dataDir: folder.path, threadsMax: 1 });
let runtime: Runtime;
beforeAll(async () => {
  runtime = await open();
  for (const userId of ["carol", ...Object.keys(rows).map((_, at) => `row-${at}`)]) {
    for (const name of ["x", "old"]) await runtime.call("UpdateUserMemory", fact(name), { userId });
    await runtime.call("UpdateUserMemory", remove("old"), { userId });
  }
  await runtime.close();
  if (isRoot) {
    await runCommand("chown", ["-R", `${nobody}:${nobody}`, folder.path]);
    process.seteuid?.(nobody);
  }
  runtime = await open();
});
afterAll(async () => {
  if (isRoot) process.seteuid?.(0);
  await runtime.close();
  folder[Symbol.dispose]();
});

async function use(userId: string): Promise<string[]> {
  const call = async (tool: string, input: object): Promise<string> => {
    const result = await runtime.call(tool, input, { userId });
    expectDiscreet(JSON.stringify(result));
    return result.ok ? "ok" : result.error.code;
  };
  const index = runtime.memoryIndex({ userId }, { family: "user-memory" }).then(
    () => "ok",
    ({ code, message }: { readonly code: string; readonly message: string }) => {
      expectDiscreet(message);
      return code;
    },
  );
  const read = await call("ReadUserMemory", { name: "x" });
  const changes = [await call("UpdateUserMemory", fact("x")), await call("UpdateUserMemory", remove("x"))];
  return [read, await index, ...changes];
}

/** No path of the host, and no error name of the operating system. */
function expectDiscreet(text: string): void {
  expect(text).not.toContain(folder.path);
  expect(text).not.toMatch(/\bE(?:NOENT|ACCES|PERM)\b|\/proc\/|\\n {4}at /);
}

test.for(Object.entries(rows).map(([place, outcomes], at) => [place, outcomes, `row-${at}`] as const))(
  'a place "%s" that may not be opened is a coded error',
  async ([place, outcomes, userId], context) => {
    if (process.platform === "win32") skipWithReason(context, "Windows has no such modes");
    const path = join(userFolder(folder.path, userId), place);
    chmodSync(path, 0);
    try {
      expect(await use(userId)).toEqual(outcomes);
      expect(await runtime.call("ReadUserMemory", { name: "x" }, { userId: "carol" })).toMatchObject({ ok: true });
    } finally {
      chmodSync(path, 0o700);
    }
    expect((await use(userId)).slice(0, 3)).toEqual(["ok", "ok", "ok"]);
  },
);
