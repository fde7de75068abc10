/** One process calls tools for a user without a pause, while another erases the user again and again. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { openAll } from "./four-families.ts";
import { alice } from "./upkeep-stage.ts";

const script = fileURLToPath(new URL("../../dist/test/upkeep/erased-user-process.js", import.meta.url));
const erasures = 12;

interface Message {
  readonly written?: string;
  readonly faults?: readonly string[];
}

test("no call fails, nothing that was erased comes back, and nothing later is lost", { timeout: 180_000 }, async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path);
  const child = fork(script, [folder.path]);
  try {
    const written: string[] = [];
    const ended = once(child, "exit");
    let faults: readonly string[] = ["the process has reported nothing"];
    child.on("message", (message: Message) => {
      if (message.written !== undefined) written.push(message.written);
      if (message.faults !== undefined) faults = message.faults;
    });
    /** What is written by then, and acknowledged, when some more is. */
    const writtenSome = async (): Promise<readonly string[]> => {
      const before = written.length;
      while (written.length < before + 3) await once(child, "message");
      return [...written];
    };
    let erased: readonly string[] = [];
    for (let at = 0; at < erasures; at++) {
      erased = await writtenSome();
      expect(await runtime.upkeep.erase(alice)).toMatchObject({ left: [] });
    }
    child.send("end");
    await ended;
    expect(faults).toEqual([]);
    expect(erased.length).toBeGreaterThan(erasures);

    const entries = (await runtime.memoryEntries(alice)).map(({ name }) => name);
    const listed = await runtime.callAsHost("memory", { command: "view", path: "/memories/" }, alice);
    const notes = listed.ok ? (listed.data as { entries: { key: string }[] }).entries.map(({ key }) => key) : [];
    for (const names of [entries, notes]) {
      expect(names.filter((name) => erased.includes(name))).toEqual([]);
      expect(names).toContain("last");
    }
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
    expect(await runtime.upkeep.strays()).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});
