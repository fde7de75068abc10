/** Progress appears only on a terminal, only while a command waits, and is cleared at the end. */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import { fileStore } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { runOnTerminal, whyNoTerminal } from "../support/pseudo-terminal.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const { CI: _ci, ...environment } = process.env;
const watched = { ...environment, TERM: "xterm" };
const users = ["alice", "bob", "carol"];
/** Before it, WALs can be listed that the test's own runtime still uses. */
const looked: unknown = expect.stringMatching(/(?:^|to mend\n)3 users checked\n$/);

/** Three users, one of whom is locked for every other process until `release` is called. */
async function stage() {
  const folder = temporaryFolder();
  const files = { "memory/MEMORY.md": indexLine("a") + indexLine("b"), "memory/a.md": entryText("a") };
  writeUserFiles(folder.path, Object.fromEntries(users.map((userId) => [userId, files])));
  const store = fileStore({ dir: folder.path }).open(() => {});
  const options = { writes: true, until: Number.MAX_VALUE };
  // A first commit creates the lock file.
  for (const userId of users) {
    const write = { kind: "write", scope: "memory", path: "b.md", content: entryText("b") } as const;
    await store.hold(userId as UserId, options, (held) => held.commit([write], []));
  }
  const signals = new EventEmitter();
  const held = once(signals, "held");
  const holding = store.hold("bob" as UserId, options, async () => {
    signals.emit("held");
    await once(signals, "release");
  });
  await held;
  const release = (): void => void signals.emit("release");
  return {
    dataDir: folder.path,
    release,
    [Symbol.asyncDispose]: async () => {
      release();
      await holding;
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Runs a doctor on a terminal. It waits for bob, who is released when the doctor has shown that it waits. */
async function runWatched({ dataDir, release }: { readonly dataDir: string; readonly release: () => void }) {
  const command = [process.execPath, program, "doctor", "--data", dataDir];
  return await runOnTerminal(command, { environment: watched }, (terminal) => {
    if (terminal.includes("doctor: 2 of 3 users")) release();
  });
}

test("a terminal shows the doctor's progress in the host's own words, and nothing of it stays", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  await using at = await stage();
  const { status, stdout, terminal } = await runWatched(at);
  expect({ status, stdout }).toEqual({ status: 0, stdout: looked });
  for (const userId of users) expect(terminal).not.toContain(userId);
  // After the last state the line is cleared and nothing more is written.
  const [, rest = ""] = terminal.split(/.*users/s);
  expect(rest).toContain("\u001b[1G\u001b[0K");
  expect(stripVTControlCharacters(rest)).toBe("");
});

test("runs show their progress while they wait", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  await using at = await stage();
  const command = [process.execPath, program, "runs", "list", "--user", "bob", "--data", at.dataDir];
  const { status, stdout, terminal } = await runOnTerminal(command, { environment: watched }, (shown) => {
    if (shown.includes("runs list")) at.release();
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "No runs\n" });
  expect(terminal).not.toContain("bob");
});

test("no progress appears with --json, in CI, on a dumb terminal, without columns, or on a pipe", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  await using at = await stage();
  const command = [process.execPath, program, "doctor", "--data", at.dataDir];
  const quiet = [
    runOnTerminal([...command, "--json"], { environment: watched }),
    runOnTerminal(command, { environment: { ...watched, CI: "true" } }),
    runOnTerminal(command, { environment: { ...watched, TERM: "dumb" } }),
    runOnTerminal(command, { environment: watched, columns: 0 }),
    runOnPipe(["doctor", "--data", at.dataDir]),
    runOnPipe(["trash", "purge", "--older-than", "0s", "--user", "bob", "--data", at.dataDir]),
    runOnPipe(["export", "/dev/full/nowhere", "--user", "bob", "--data", at.dataDir]),
  ];
  // They all wait for bob. When a doctor that started later has shown progress, they would have shown it too.
  await runWatched(at);
  for (const { terminal } of await Promise.all(quiet)) expect(terminal).toBe("");
});

test("progress stops on a terminal that loses its columns, where lines cannot be cleared", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  await using at = await stage();
  const command = [process.execPath, program, "doctor", "--data", at.dataDir];
  const shape = { environment: watched, columnsLater: 0 };
  const { status, stdout } = await runOnTerminal(command, shape, () => at.release());
  expect({ status, stdout }).toEqual({ status: 0, stdout: looked });
});

async function runOnPipe(args: readonly string[]): Promise<{ terminal: string }> {
  const child = spawn(process.execPath, [program, ...args], { env: watched });
  let terminal = "";
  child.stderr.on("data", (bytes: Buffer) => (terminal += bytes.toString()));
  await once(child, "close");
  return { terminal };
}
