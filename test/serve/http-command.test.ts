/** `memcell serve --http` as a process: the address that it prints, and how it ends. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { connectClient } from "./http-stage.ts";
import { program } from "./serve-process.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

type Served = ChildProcessByStdio<null, Readable, Readable>;

const start = (args: readonly string[], cwd: string): Served =>
  spawn(process.execPath, [program, "serve", "--http", "--port", "0", ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });

async function urlOf(served: Served): Promise<string> {
  const [line] = (await once(createInterface({ input: served.stderr }), "line")) as [string];
  const url = /^memcell serve: listening on (http:\S+)$/.exec(line)?.[1];
  if (url === undefined) throw new Error(`it said: ${line}`);
  return url;
}

test.for(["SIGTERM", "SIGINT"] as const)(
  "serves clients with a token and shuts down in order on %s",
  async (signal) => {
    using folder = temporaryFolder();
    await using issuing = await TokenIssuer.start();
    const file = join(folder.path, "key.pem");
    writeFileSync(file, await issuing.publicPem());
    const served = start(["--issuer", issuer, "--audience", audience, "--public-key", file], folder.path);
    const printed = text(served.stdout);
    const url = await urlOf(served);
    const client = await connectClient(url, await issuing.token("alice"), "legacy");
    const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix" };
    expect((await client.callTool({ name: "UpdateUserMemory", arguments: entry })).isError ?? false).toBe(false);
    served.kill(signal);
    expect(await once(served, "exit")).toEqual([0, null]);
    expect(await printed).toBe("");
    await client.close();
  },
);

test.for([
  { name: "no access for anybody", args: [], says: "nobody has access over HTTP" },
  { name: "one user on all addresses", args: ["--user", "alice", "--host", "0.0.0.0"], says: "a loopback address" },
  {
    name: "a missing key",
    args: ["--issuer", issuer, "--audience", audience, "--public-key", "none.pem"],
    says: "its file cannot be read",
  },
])("does not start with $name, and says why", async ({ args, says }) => {
  using folder = temporaryFolder();
  const served = start(args, folder.path);
  const [stderr, [code]] = await Promise.all([text(served.stderr), once(served, "exit")]);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain(folder.path);
});
