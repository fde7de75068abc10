/** Every host here tells in a listing when a file was last changed. The contract lets a host leave that out. */
import { utimesSync } from "node:fs";
import { join } from "node:path";

import { expect, inject, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { LineHost } from "./line-host.ts";
import { programOf } from "./program-of.ts";

const write = { of: "store_write", ask: { scope: "memory", path: "a.md", content: "x" } };
/** The reply as the host wrote it. */
const list = { of: "store_list", request: JSON.stringify({ scope: "memory" }) };

test.for(inject("hosts"))("$language tells the time of a file's last change", async (host, context) => {
  using folder = temporaryFolder();
  const hosted = { plugin: testPlugin("puppet"), dataDir: folder.path };
  await using running = await LineHost.start(programOf(host, context), hosted);
  const lastReply = async (...steps: object[]): Promise<unknown> => {
    const answer = await running.ask({ tool: "Puppet", context: { userId: "alice" }, input: steps });
    expect(answer).toMatchObject({ ok: true });
    return JSON.parse((answer as { data: string[] }).data.at(-1) ?? "null") as unknown;
  };
  expect(await lastReply(write, list)).toEqual({ ok: true, entries: [{ path: "a.md", bytes: 1, changedUs: 0 }] });
  const reply = (await lastReply(list)) as { entries: { changedUs: number }[] };
  const changedUs = reply.entries[0]?.changedUs ?? 0;
  expect(Number.isInteger(changedUs)).toBe(true);
  expect(Math.abs(changedUs - Date.now() * 1_000)).toBeLessThan(600_000_000);
  utimesSync(join(folder.path, "users/alice/memory/a.md"), 1, 1);
  const later = (await lastReply(list)) as { entries: { changedUs: number }[] };
  expect(later.entries[0]?.changedUs).toBeGreaterThanOrEqual(changedUs);
});
