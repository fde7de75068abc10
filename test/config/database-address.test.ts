/** The setting store: an address with a password is refused, wherever it is in it, and is not shown. */
import { spawnSync } from "node:child_process";

import { expect, test } from "vitest";

import { isDatabaseUrl } from "../../host/config/web-address.ts";
import { program } from "../stage/serve-lines.ts";

test.for([
  "postgres://role@host/memory",
  "postgresql://role@one:5432,two:5432/memory",
  "postgres://host/memory",
  "postgres://role@/memory?host=/run/postgresql",
])("%s is an address", (url) => {
  expect(isDatabaseUrl(url)).toBe(true);
});

test.for([
  "postgres://role:topsecret@host/memory",
  "postgres://:topsecret@host/memory",
  "postgres://role@server:topsecret@host/memory",
  "postgres://role@host/memory?password=topsecret",
  "postgres://role@host/memory?sslmode=require&password=topsecret",
])("%s is refused and not shown", (url) => {
  expect(isDatabaseUrl(url)).toBe(false);
  for (const args of [["config", "--store", url], ["db", "check", "--store", url], ["config"]]) {
    const env = { ...process.env, ...(args.length === 1 && { MEMCELL_STORE: url }) };
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8", env });
    expect(status).toBe(2);
    expect(stdout + stderr).not.toContain("topsecret");
  }
});
