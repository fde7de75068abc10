/**
 * A server for one user without tokens: no other machine and no web page reaches it, and nothing names another user.
 */
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { CommandFailure, runCommand } from "../../support/run-command.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { bytesOf, initialize, modern, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, refused, toolError } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { Forge } from "./forge.ts";
import type { Sent } from "./http-exchange.ts";
import { command, ServedProcess } from "./served-process.ts";
import { remember } from "./stage.ts";
import type { Victim } from "./stage.ts";
import { expectWithstood } from "./withstand.ts";

const unexpected = refused(400, "token-unexpected", "nobody");
const hosts = ["evil.example", "bob.localhost", "127.0.0.1.evil.example", "localhost.", "192.168.0.1", "[::]", ""];
const origins = ["null", "https://evil.example", "http://127.0.0.1", "http://localhost:7391", "file://", ""];

/** Like a row of the other tables, but without tokens, sessions or streams. */
interface OneUserAttack extends Pick<Attack, "title" | "expected"> {
  readonly make: (victim: Victim) => Ask;
}

const row = (title: string, expected: Expected, make: OneUserAttack["make"]): OneUserAttack => ({
  title,
  expected,
  make,
});

const attacks: OneUserAttack[] = [
  ...hosts.map((host) =>
    row(`the host ${JSON.stringify(host)}`, refused(403, "host-unknown", "nobody"), () =>
      withHeaders(readPlan, ["Host", host]),
    ),
  ),
  ...origins.map((origin) =>
    row(`the origin ${JSON.stringify(origin)}`, refused(403, "origin-unknown", "nobody"), () =>
      withHeaders(readPlan, ["Origin", origin]),
    ),
  ),
  row("a page that posts like a form", refused(403, "origin-unknown", "nobody"), () =>
    withHeaders(readPlan, ["Origin", "https://evil.example"], ["Content-Type", "text/plain"]),
  ),
  row("a form without an origin", refused(415, "body-type"), () =>
    withHeaders(readPlan, ["Content-Type", "text/plain"]),
  ),
  row("the victim's token", unexpected, ({ expiredToken }) =>
    withHeaders(readPlan, ["Authorization", `Bearer ${expiredToken}`]),
  ),
  row("a password", unexpected, ({ userId }) =>
    withHeaders(readPlan, ["Authorization", `Basic ${Buffer.from(`${userId}:x`).toString("base64")}`]),
  ),
  row("an empty token", unexpected, () => withHeaders(readPlan, ["Authorization", ""])),
  row("headers that name the victim", asAlice, ({ userId }) =>
    withHeaders(readPlan, ["X-User-Id", userId], ["X-Forwarded-User", userId], ["Cookie", `user=${userId}`]),
  ),
  row("headers that claim another address", asAlice, () =>
    withHeaders(readPlan, ["X-Forwarded-For", "203.0.113.1"], ["Forwarded", "for=203.0.113.1;host=evil.example"]),
  ),
  row("the victim in the query", refused(404, "query-present", "nobody"), ({ userId }) => ({
    ...readPlan,
    target: `/mcp?user=${userId}`,
  })),
  row("the victim in the path", refused(404, "path-unknown", "nobody"), ({ userId }) => ({
    ...readPlan,
    target: `/mcp/${userId}`,
  })),
  row("the victim's session", refused(404, "session-unknown"), ({ session }) => readPlanIn(session)),
  row("a session of the attacker's choice", refused(404, "session-unknown"), ({ userId }) =>
    withHeaders(initialize(), ["Mcp-Session-Id", userId]),
  ),
  row("the victim in _meta", asAlice, ({ userId }) =>
    modern("tools/call", { name: "ReadUserMemory", arguments: { name: "plan" } }, { userId }),
  ),
  row("the victim in the arguments", toolError("INPUT_INVALID"), ({ userId }) =>
    modern("tools/call", { name: "ReadUserMemory", arguments: { name: "plan", userId } }),
  ),
  row("the victim's entry", toolError("ENTRY_NOT_FOUND"), ({ entry }) =>
    modern("tools/call", { name: "ReadUserMemory", arguments: { name: entry } }),
  ),
];

describe("one user", () => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  const forge = new Forge();
  let server: ServedProcess;
  beforeAll(async () => {
    await remember(dataDir);
    server = await ServedProcess.start(["--user", "alice"], { dataDir, logFile });
  });
  afterAll(async () => {
    await server.end();
    folder[Symbol.dispose]();
  });

  const victim = (userId: string, session: string): Victim => ({
    userId,
    entry: `${userId}-plan`,
    session,
    expiredToken: forge.forged({ sub: userId }),
  });
  const victims = {
    bob: victim("bob", "3f0e6b52-1f7f-4a0c-8c55-7ad4a3a1b001"),
    ghost: victim("gus", "3f0e6b52-1f7f-4a0c-8c55-7ad4a3a1b002"),
  };

  test.each(attacks)("$expected.kind: $title", async (attack) => {
    const sentTo = async (of: Victim): Promise<Sent> => ({ bytes: [bytesOf(attack.make(of))] });
    await expectWithstood(attack, victims, { server, dataDir, sentTo });
  });

  test("afterwards: the log is intact", async () => {
    expect(await server.end()).toBe(0);
    expect(await runCommand(process.execPath, [command, "audit", "verify", logFile])).toContain("records");
  });
});

const addresses = [
  "0.0.0.0",
  "::",
  "192.0.2.1",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evil.example",
  "::ffff:127.0.0.1",
  "0",
  "127.1",
  "2130706433",
];

test.each(addresses)("refuses one user on %s before it listens", async (host) => {
  using folder = temporaryFolder();
  const args = [command, "serve", "--http", "--port", "0", "--user", "alice", "--host", host, "--data", folder.path];
  const failure = await runCommand(process.execPath, args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CommandFailure);
  expect((failure as CommandFailure).output).toContain("loopback");
});

test("refuses one user together with tokens", async () => {
  using folder = temporaryFolder();
  const args = [
    command,
    "serve",
    "--http",
    "--user",
    "alice",
    "--issuer",
    "https://issuer.example",
    "--data",
    folder.path,
  ];
  const failure = await runCommand(process.execPath, args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CommandFailure);
  expect((failure as CommandFailure).output).toContain("do not go together");
});
