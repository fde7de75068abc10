/** What clients get over HTTP, whichever revision they speak. */
import { expect, test } from "vitest";

import { openHttpStage } from "./http-stage.ts";
import type { ClientMode } from "./http-stage.ts";

const modes: ClientMode[] = ["2026-07-28", "legacy"];
const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };

test.for(modes)("a client of %s lists and calls tools and reads resources, of its own user", async (mode) => {
  await using stage = await openHttpStage();
  const alice = await stage.client(await stage.issuer.token("alice"), mode);
  const bob = await stage.client(await stage.issuer.token("bob"), mode);

  expect((await alice.listTools()).tools.map(({ name }) => name)).toContain("UpdateUserMemory");
  const written = await alice.callTool({ name: "UpdateUserMemory", arguments: entry });
  expect(written.isError ?? false).toBe(false);
  const read = await alice.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(read.structuredContent).toMatchObject({ body: "Helix it is." });
  const index = await alice.readResource({ uri: "memory://index" });
  expect(JSON.stringify(index)).toContain("Uses Helix");

  const others = await bob.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(others.isError).toBe(true);
  expect(JSON.stringify(await bob.readResource({ uri: "memory://index" }))).not.toContain("Helix");
  expect(stage.refusals).toEqual([]);
  expect(stage.log.filter(({ level }) => level === "error")).toEqual([]);
});
