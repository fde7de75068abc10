/**
 * Runs the official conformance suite against `memcell serve --http`: every check succeeds or has a reason not to
 * apply.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { scenarios } from "./conformance-scenarios.ts";
import { conformanceTable, unsuccessful } from "./conformance-table.ts";
import type { Findings } from "./conformance-table.ts";
import { freePort, HttpServeProcess } from "./http-serve-process.ts";
import { installedClients } from "./installed-clients.ts";
import { runConformance } from "./run-conformance.ts";
import type { Check } from "./run-conformance.ts";
import { runNames, suiteRuns } from "./suite-runs.ts";
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
  const args = ["--user", "alice", "--port", port, "--policy", policy, "--allowed-origin", `http://127.0.0.1:${port}`];
  const dataArgs = ["--data", join(folder.path, "data"), ...plugins.flatMap((file) => ["--plugin", file])];
  await using server = await HttpServeProcess.start([...args, ...dataArgs]);
  const found: [string, ReadonlyMap<string, readonly Check[]>][] = [];
  for (const [name, run] of Object.entries(suiteRuns(clients))) {
    const place = { node: clients.node, url: server.url, folder: join(folder.path, name) };
    // oxlint-disable-next-line no-await-in-loop -- what one run leaves behind is not the other's
    found.push([name, await runConformance(run, place)]);
  }
  findings = Object.fromEntries(found) as Findings;
}, 120_000);

afterAll(() => {
  folder[Symbol.dispose]();
  console.log(conformanceTable(findings));
});

describe.for(runNames)("%s", (run) => {
  const expected = Object.entries(scenarios).filter(([, { runs }]) => runs.includes(run));

  test("the suite has exactly the known scenarios", () => {
    expect([...findings[run].keys()].toSorted()).toEqual(expected.map(([name]) => name).toSorted());
  });

  test.for(expected)("%s", ([name, { without = {} }]) => {
    const checks = findings[run].get(name) ?? [];
    const failed = checks.filter(({ id }) => unsuccessful(checks).has(id) && !(id in without));
    expect(failed).toEqual([]);
  });
});

test("a check that does not apply succeeds in no run", () => {
  const stale = Object.entries(scenarios).flatMap(([name, { without = {} }]) =>
    Object.keys(without).filter((id) => !runNames.some((run) => unsuccessful(findings[run].get(name) ?? []).has(id))),
  );
  expect(stale).toEqual([]);
});

test("README.md has the table", () => {
  expect(readFileSync(new URL("README.md", import.meta.url), "utf8")).toContain(conformanceTable(findings));
});
