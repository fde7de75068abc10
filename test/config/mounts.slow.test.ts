/** Folders mounted by a command line or a config file: for the one named user only. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { mountsFor } from "../../host/config/mount-settings.ts";
import { UsageError } from "../../host/config/usage-error.ts";
import { journalPuppet, read, write } from "../mounts/mounted-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsOf } from "./settings-of.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const plugin = journalPuppet(folder.path);
const policy = join(folder.path, "policy.json");
writeFileSync(policy, JSON.stringify(policyFor([plugin])));
const named = ["--plugin", plugin, "--policy", policy];

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
}

function memcell(id: string, args: readonly string[], config?: object): Outcome {
  const cwd = join(folder.path, id);
  mkdirSync(cwd, { recursive: true });
  if (config) writeFileSync(join(cwd, "memcell.config.json"), JSON.stringify(config));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...args, ...(config ? ["--config", "."] : [])],
    {
      cwd,
      encoding: "utf8",
      input: "",
    },
  );
  return { status, stdout, stderr, cwd };
}

const call = (step: object, user = "alice"): string[] => [
  "call",
  "Puppet",
  "--user",
  user,
  ...named,
  "--input",
  JSON.stringify([step]),
];

test.for([
  { name: "flag", args: ["--mount", "journal=ws/.agent/memory"] },
  { name: "file", args: [], config: { mounts: ["journal=ws/.agent/memory"] } },
])("a call reads and writes in the folder that the $name names", ({ name, args, config }) => {
  const done = memcell(name, [...call(write("a.md", "of alice")), ...args], config);
  expect(done).toMatchObject({ status: 0, stderr: "" });
  expect(readFileSync(join(done.cwd, "ws/.agent/memory/a.md"), "utf8")).toBe("of alice");
  expect(existsSync(join(done.cwd, "data"))).toBe(false);
  const seen = memcell(name, [...call(read("a.md")), ...args], config);
  expect(JSON.parse(seen.stdout)).toMatchObject({ ok: true, data: [{ content: "of alice" }] });
});

const tokens = ["--issuer", "https://id.example", "--audience", "m", "--jwks", "keys.json"];
const usage: readonly { name: string; args: readonly string[]; says: string }[] = [
  {
    name: "a mount without a user for the doctor",
    args: ["doctor", "--mount", "journal=ws"],
    says: "mounts (flag --mount) belong to one user, but no user is given, allowed: with --user",
  },
  {
    name: "a mount when serving users with tokens",
    args: ["serve", "--http", ...tokens, "--mount", "journal=ws"],
    says: "mounts (flag --mount) belong to one user, but tokens can be of many users, allowed: with --user",
  },
  {
    name: "one scope mounted twice",
    args: [...call(read("a.md")), "--mount", "journal=ws", "--mount", "journal=ws/x"],
    says: "mounts[1] has user and scope of mounts[0], allowed: one folder for each scope of a user",
  },
  {
    name: "the data folder",
    args: [...call(read("a.md")), "--mount", "journal=data/users/bob/journal"],
    says: "mounts[0].dir lies in the data folder",
  },
  {
    name: "one folder for two scopes",
    args: [...call(read("a.md")), "--mount", "journal=ws", "--mount", "memory=ws/x"],
    says: "mounts[1].dir is, holds or lies in the folder of mounts[0]",
  },
  {
    name: "a mount that contains the data folder",
    args: ["serve", "--user", "alice", "--mount", "journal=."],
    says: "mounts[0].dir holds the data folder",
  },
];

test.for(usage)("refuses $name and creates nothing", ({ args, says }, { task }) => {
  const { status, stdout, stderr, cwd } = memcell(task.id, args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain(folder.path);
  for (const name of ["data", "ws"]) expect(existsSync(join(cwd, name))).toBe(false);
});

test("an unknown scope is an error that lists the existing ones, and nothing goes to the data folder", () => {
  const { status, stdout, cwd } = memcell("misspelt", [...call(write("a.md", "x")), "--mount", "jurnal=ws"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "PLUGIN_REFUSED", message: expect.stringContaining("journal") },
  });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("an invalid user id is a usage error, and mounts nothing", () => {
  const { status, stdout, stderr } = memcell("invalid", [...call(read("a.md"), "../bob"), "--mount", "journal=ws"]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain('--user is "../bob"');
});

test("tools are printed with any mounts, and no user's files are touched", () => {
  const { status, stdout } = memcell("tools", ["tools", ...named], { mounts: ["journal=ws"] });
  expect(status).toBe(0);
  expect(stdout).toContain('"Puppet"');
});

test("settings become mounts for the one user, with resolved folders", async () => {
  const settings = await settingsOf(["--mount", "memory=/m=n", "--mount", `journal=${folder.path}/ws/../n`]);
  expect(mountsFor(settings, "alice")).toEqual([
    { userId: "alice", scope: "memory", dir: "/m=n" },
    { userId: "alice", scope: "journal", dir: join(folder.path, "n") },
  ]);
  expect(() => mountsFor(settings, undefined)).toThrow(UsageError);
  expect(mountsFor(await settingsOf([]), undefined)).toEqual([]);
});
