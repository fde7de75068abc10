/**
 * Runs the official conformance suite against `memcell serve --http`: every check succeeds or has a reason not to
 * apply, in the table of README.md. The suite expects a server with every feature, and with tools, prompts and resources
 * of fixed names; `write-conformance-plugin.ts` offers the tools that memcell can have.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { HttpProcess } from "../stage/http-process.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { installedClients } from "./prepare-clients.ts";
import { runConformance, runNames, suiteArgs } from "./run-conformance.ts";
import type { Check, RunName } from "./run-conformance.ts";
import { writeConformancePlugin } from "./write-conformance-plugin.ts";

interface Scenario {
  readonly name: string;
  /** The runs that contain it. */
  readonly runs: readonly RunName[];
  /** Checks that fail in at least one run, by id, and why they cannot apply. All others succeed. */
  readonly without: ReadonlyMap<string, string>;
}

/** Each run's checks, by scenario. */
type Findings = Readonly<Record<RunName, ReadonlyMap<string, readonly Check[]>>>;

const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const titles = `| scenario | ${runNames.join(" | ")} | which checks do not apply, and why |`;
const rows = page.slice(page.indexOf(titles)).trimEnd().split("\n").slice(2);

const scenarios: readonly Scenario[] = rows.map(scenarioOf);

function scenarioOf(row: string): Scenario {
  const [name = "", ...cells] = row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
  const reasons = (cells.at(-1) ?? "").split("; ").filter((part) => part.startsWith("`"));
  const without = reasons.flatMap((part) => {
    const [ids = "", reason = ""] = part.split(": ");
    return ids.split(", ").map((id) => [id.replaceAll("`", ""), reason] as const);
  });
  return {
    name: name.replaceAll("`", ""),
    runs: runNames.filter((_, at) => cells[at] !== ""),
    without: new Map(without),
  };
}

/** The ids of checks that did not succeed. `INFO` is not a verdict. */
function unsuccessful(checks: readonly Check[]): Set<string> {
  return new Set(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(({ id }) => id));
}

const clients = installedClients(inject("mcpClients"));
const folder = temporaryFolder();
let findings: Findings;

beforeAll(async () => {
  const plugins = [shippedPlugin("user-memory"), writeConformancePlugin(folder.path)];
  const policy = join(folder.path, "policy.json");
  writeFileSync(policy, JSON.stringify(policyFor(plugins)));
  const port = String(await freePort());
  // Only named origins are allowed, so the server's own address is named too.
  const args = ["--http", "--user", "alice", "--port", port, "--allowed-origin", `http://127.0.0.1:${port}`];
  const files = ["--data", join(folder.path, "data"), "--policy", policy];
  const flags = plugins.flatMap((file) => ["--plugin", file]);
  await using server = new HttpProcess([...args, ...files, ...flags], { isHttp: false });
  const found: [string, ReadonlyMap<string, readonly Check[]>][] = [];
  for (const [name, run] of Object.entries(suiteArgs(clients))) {
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
