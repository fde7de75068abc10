/** Folders mounted by a command line or a config file: for the one named user only. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { journalPuppet, read, write } from "../mounts/mounted-stage.ts";
import { memcell as run } from "../stage/command.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const plugin = journalPuppet(folder.path);
const policy = join(folder.path, "policy.json");
writeFileSync(policy, JSON.stringify(policyFor([plugin])));
const named = ["--plugin", plugin, "--policy", policy];

/** Each in a working directory of its own. */
let count = 0;
function place(config?: object): string {
  const cwd = join(folder.path, `cwd-${(count += 1)}`);
  mkdirSync(cwd);
  if (config) writeFileSync(join(cwd, "said.json"), JSON.stringify(config), { mode: 0o600 });
  return cwd;
}

const call = (step: object, user = "alice"): string[] => {
  return ["call", "Puppet", "--user", user, ...named, "--input", JSON.stringify([step])];
};

test.for([
  { name: "flag", args: ["--mount", "journal=ws/.agent/../.agent/memory"], config: {} },
  { name: "file", args: ["--config", "said.json"], config: { mounts: ["journal=ws/.agent/memory"] } },
])("a call reads and writes in the folder that the $name names", async ({ args, config }) => {
  const cwd = place(config);
  expect(await run([...call(write("a.md", "of alice")), ...args], { cwd })).toMatchObject({ status: 0, stderr: "" });
  expect(readFileSync(join(cwd, "ws/.agent/memory/a.md"), "utf8")).toBe("of alice");
  expect(existsSync(join(cwd, "data"))).toBe(false);
  const seen = await run([...call(read("a.md")), ...args], { cwd });
  expect(JSON.parse(seen.stdout)).toMatchObject({ ok: true, data: [{ content: "of alice" }] });
});

const tokens = ["--issuer", "https://id.example", "--audience", "m", "--jwks", "keys.json"];

test.for<readonly [name: string, args: readonly string[], says: string]>([
  [
    "a mount without a user for the doctor",
    ["doctor", "--mount", "journal=ws"],
    "mounts (flag --mount) belong to one user, but no user is given, allowed: with --user",
  ],
  [
    "a mount when serving users with tokens",
    ["serve", "--http", ...tokens, "--mount", "journal=ws"],
    "mounts (flag --mount) belong to one user, but tokens can be of many users, allowed: with --user",
  ],
  ["a mount for an invalid user", [...call(read("a.md"), "../bob"), "--mount", "journal=ws"], '--user is "../bob"'],
])("%s is refused and creates nothing", async ([, args, says]) => {
  const cwd = place();
  const { status, stdout, stderr } = await run(args, { cwd });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain(folder.path);
  for (const name of ["data", "ws"]) expect(existsSync(join(cwd, name))).toBe(false);
});
