/** `memcell serve --http` as a process: the address that it prints, and how it ends. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { HttpProcess } from "./http-process.ts";
import { connectClient } from "./http-stage.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

test.for(["SIGTERM", "SIGINT"] as const)(
  "serves clients with a token and shuts down in order on %s",
  async (signal) => {
    using folder = temporaryFolder();
    await using issuing = await TokenIssuer.start();
    const file = join(folder.path, "key.pem");
    writeFileSync(file, await issuing.publicPem());
    const args = ["--issuer", issuer, "--audience", audience, "--public-key", file];
    await using served = new HttpProcess(args, { cwd: folder.path });
    const client = await connectClient(await served.url(), await issuing.token("alice"), "legacy");
    const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix" };
    expect((await client.callTool({ name: "UpdateUserMemory", arguments: entry })).isError ?? false).toBe(false);
    expect(await served.end(signal)).toMatchObject({ code: 0, stdout: "" });
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
  await using served = new HttpProcess(args, { cwd: folder.path });
  const { code, lines } = await served.ended;
  expect(code).toBe(2);
  expect(lines.join("\n")).toContain(says);
  expect(lines.join("\n")).not.toContain(folder.path);
});
