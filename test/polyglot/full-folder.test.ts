/** A large folder without its index: every host reads each fact and rebuilds the index in one call. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { LineHost } from "./line-host.ts";
import type { HostedCall } from "./line-host.ts";
import { programOf } from "./program-of.ts";

/**
 * 1,000 is the most entries that a user can have. On Java the engine's main function is too large for the JVM's
 * compilers and is interpreted, so 1,000 take longer than a call's 10 s.
 */
const entriesOf = (language: string): number => (language === "Java" ? 100 : 1000);
const fact = (name: string): string => `---\nname: ${name}\ndescription: A fact\ntype: user\n---\nBody of ${name}\n`;
const line = (name: string): string => `- [${name}](${name}.md) \u2014 A fact\n`;

const upsert: HostedCall = {
  tool: "UpdateUserMemory",
  context: { userId: "alice", epochMs: 1_700_000_000_000 },
  input: { action: "upsert", name: "last", type: "user", description: "A fact", body: "" },
};

test.for(inject("hosts"))("$language rebuilds an index", async (host, context) => {
  const entries = entriesOf(host.language);
  const names = Array.from({ length: entries - 1 }, (_, at) => `entry-${String(at).padStart(4, "0")}`);
  using folder = temporaryFolder();
  const memory = join(folder.path, "users/alice/memory");
  mkdirSync(memory, { recursive: true });
  for (const name of names) writeFileSync(join(memory, `${name}.md`), fact(name));
  const hosted = { plugin: shippedPlugin("user-memory"), dataDir: folder.path };
  await using running = await LineHost.start(programOf(host, context), hosted);
  const start = performance.now();
  expect(await running.ask(upsert)).toMatchObject({ ok: true, data: { outcome: "created" } });
  console.log(`${host.language}: an index of ${entries} entries in ${Math.round(performance.now() - start)} ms`);
  const { "memory/MEMORY.md": index } = foundFiles(folder.path)["alice"] ?? {};
  expect(index).toBe([...names, "last"].map(line).join(""));
});
