/** Progress is for who watches a terminal: shown there while a command waits, gone in the end, and nowhere else at all. */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import { fileStore } from "../../host/store/files/define-files.ts";
import type { UserId } from "../../host/values/user-id.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { runOnTerminal, whyNoTerminal } from "../support/pseudo-terminal.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const { CI: _ci, ...environment } = process.env;
const watched = { ...environment, TERM: "xterm" };
const users = ["alice", "bob", "carol"];
const looked = "3 users checked\n";

/** Three users, and one of them out of every other process's reach until `release` is called. */
async function stage() {
  const folder = temporaryFolder();
  const files = { "memory/MEMORY.md": indexLine("a") + indexLine("b"), "memory/a.md": entryText("a") };
  writeUserFiles(folder.path, Object.fromEntries(users.map((userId) => [userId, files])));
  const store = fileStore({ dir: folder.path }).open(() => {});
  const options = { writes: true, until: Number.MAX_VALUE };
  // A first commit makes the file that is locked.
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

/** Runs a doctor on a terminal, which waits for bob, and lets it go on when it has said so. */
async function runWatched({ dataDir, release }: { readonly dataDir: string; readonly release: () => void }) {
  const command = [process.execPath, program, "doctor", "--data", dataDir];
  return await runOnTerminal(command, { environment: watched }, (terminal) => {
    if (terminal.includes("doctor: 2 of 3 users")) release();
  });
}

test("a terminal shows how far the doctor is, in words of the host's own, and keeps nothing of it", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  await using at = await stage();
  const { status, stdout, terminal } = await runWatched(at);
  expect({ status, stdout }).toEqual({ status: 0, stdout: looked });
  for (const userId of users) expect(terminal).not.toContain(userId);
  // Behind the last state the line is cleared, and nothing is written any more.
  const [, rest = ""] = terminal.split(/.*users/s);
  expect(rest).toContain("\u001b[1G\u001b[0K");
  expect(stripVTControlCharacters(rest)).toBe("");
});

test("nothing is shown with --json, in CI, on a dumb terminal, one without columns, and on a pipe", async (context) => {
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
  // They all wait for bob. Once a doctor that began after them has shown something, they would have as well.
  await runWatched(at);
  for (const { terminal } of await Promise.all(quiet)) expect(terminal).toBe("");
});

test("a terminal that loses its columns meanwhile is left alone: there is no end to the lines of it", async (context) => {
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
