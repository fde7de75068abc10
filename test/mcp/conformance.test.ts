/**
 * Runs the official conformance suite against `memcell serve --http`: every check succeeds or has a reason not to
 * apply.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { HttpProcess } from "../stage/http-process.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { scenarios, unsuccessful } from "./conformance-table.ts";
import type { Findings } from "./conformance-table.ts";
import { installedClients } from "./prepare-clients.ts";
import { runConformance, runNames, suiteRuns } from "./run-conformance.ts";
import type { Check } from "./run-conformance.ts";
import { writeConformancePlugin } from "./write-conformance-plugin.ts";

const clients = installedClients(inject("mcpClients"));
const folder = temporaryFolder();
let findings: Findings;

beforeAll(async () => {
  const plugins = [shippedPlugin("user-memory"), writeConformancePlugin(folder.path)];
  const policy = join(folder.path, "policy.json");
  writeFileSync(policy, JSON.stringify(policyFor(plugins)));
  const port = String(await freePort());
  // Only named origins are allowed, so the server's own address is named too.
  const args = [
    "--http",
    "--user",
    "alice",
    "--port",
    port,
    "--policy",
    policy,
    "--allowed-origin",
    `http://127.0.0.1:${port}`,
  ];
  const dataArgs = ["--data", join(folder.path, "data"), ...plugins.flatMap((file) => ["--plugin", file])];
  await using server = new HttpProcess([...args, ...dataArgs], { isHttp: false });
  const found: [string, ReadonlyMap<string, readonly Check[]>][] = [];
  for (const [name, run] of Object.entries(suiteRuns(clients))) {
    const place = { node: clients.node, url: await server.url(), folder: join(folder.path, name) };
    // oxlint-disable-next-line no-await-in-loop -- what one run leaves behind is not the other's
    found.push([name, await runConformance(run, place)]);
  }
  findings = Object.fromEntries(found) as Findings;
  expect(await server.end()).toMatchObject({ code: 0 });
}, 120_000);

/** A free port, for a server that must know its address before it starts. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

afterAll(() => folder[Symbol.dispose]());

describe.for(runNames)("%s", (run) => {
  const expected = scenarios.filter(({ runs }) => runs.includes(run));

  test("the suite has exactly the known scenarios", () => {
    expect([...findings[run].keys()].toSorted()).toEqual(expected.map(({ name }) => name).toSorted());
  });

  test.for(expected)("$name", ({ name, without }) => {
    const checks = findings[run].get(name) ?? [];
    const failed = checks.filter(({ id }) => unsuccessful(checks).has(id) && !without.has(id));
    expect(failed).toEqual([]);
  });
});

test("a check that does not apply succeeds in no run", () => {
  const stale = scenarios.flatMap(({ name, without }) =>
    [...without.keys()].filter((id) => !runNames.some((run) => unsuccessful(findings[run].get(name) ?? []).has(id))),
  );
  expect(stale).toEqual([]);
});
