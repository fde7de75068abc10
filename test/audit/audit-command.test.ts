/** `memcell audit`: which files it audits together, its formats and exit codes, and where it writes a page. */
import { spawnSync } from "node:child_process";
import { copyFileSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { program } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { auditJson } from "./audited.ts";
import { everyTool, resealed } from "./changed-plugin.ts";
import { hashOf } from "./written-log.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const inFolder = (name: string, content?: string | Uint8Array): string => {
  const file = join(folder.path, name);
  if (content !== undefined) writeFileSync(file, content);
  return file;
};

test("without a file, audits every shipped plugin, and each passes, as text and as JSON", async () => {
  const { status, stdout, stderr } = await memcell(["audit"], { cwd: folder.path });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const told = [...stdout.matchAll(/^file {6}(.+)\.wasm: (.+?) /gm)].map(([, file, name]) => [file, name]);
  expect(told).toEqual(shippedNames().map((name) => [name, name]));
  expect(stdout).toMatch(/\nPASS {2}.*\n$/);
  const { reports, log } = await auditJson();
  expect(log).toBeNull();
  expect(reports).toMatchObject(
    shippedNames().map((name) => ({ verdict: "PASS", deviations: [], artifact: { manifest: { name } } })),
  );
  // Programs can compare the texts: the keys have a fixed order.
  for (const report of reports)
    expect(Object.keys(report).join(" ")).toBe(
      "verdict deviations narrowings artifact policy tools limits dependencies",
    );
  expect(await auditJson(...shippedNames().map((name) => shippedPlugin(name)))).toEqual({ reports, log });
});

test("--propose prints a policy under which the file passes and a runtime loads it", async () => {
  const file = inFolder("own.wasm", resealed({ name: "own", tools: everyTool({ scopes: ["notes"] }) }));
  expect((await memcell(["audit", file])).status).toBe(1);
  const { status, stdout } = await memcell(["audit", file, "--propose"]);
  expect(status).toBe(0);
  const policy = inFolder("own-policy.json", stdout);
  expect((await memcell(["audit", file, "--policy", policy])).status).toBe(0);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy });
  expect(runtime.tools()).toHaveLength(3);
});

test.for<readonly [name: string, args: () => string[], says: string]>([
  [
    "a policy for a file that no runtime would load",
    () => [inFolder("greedy.wasm", resealed({ fuelPolls: 1e9 })), "--propose"],
    "polls of fuel",
  ],
  [
    "a policy for two files of the same plugin",
    () => ["user-memory", shippedPlugin("user-memory"), "--propose"],
    'another file is the plugin "user-memory" already',
  ],
  ["a verdict under a policy that is not there", () => ["--policy", inFolder("absent.json")], "policy"],
])("says why instead of %s", async ([, args, says]) => {
  const { status, stdout, stderr } = await memcell(["audit", ...args()]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain(folder.path);
  if (args().includes("--propose")) return;
  const asJson = await memcell(["audit", ...args(), "--json"]);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, error: { code: "PLUGIN_REFUSED" } });
});

test.for([
  { name: "an unknown option", args: ["--fix"] },
  { name: "a proposal and a policy", args: ["--propose", "--policy", "policy.json"] },
  { name: "an option that controls a terminal", args: ["--\u001b]0;title\u0007"] },
])("$name is a usage error in visible characters", async ({ args }) => {
  const { status, stdout, stderr } = await memcell(["audit", ...args], { cwd: folder.path });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain("memcell audit --help");
  expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});

test("reports each of several files that cannot be loaded together", async () => {
  const plugins = ["one", "near"].map((name) => inFolder(`${name}.wasm`, resealed({ name })));
  const policy = inFolder("both.json", (await memcell(["audit", ...plugins, "--propose"])).stdout);
  for (const file of plugins) expect((await memcell(["audit", file, "--policy", policy])).status).toBe(0);
  const { reports } = await auditJson(...plugins, "--policy", policy);
  for (const [at, other] of ["near", "one"].entries()) {
    expect(reports[at]?.verdict).toBe("FAIL");
    expect(reports[at]?.deviations.map(({ text }) => text)).toContain(
      `No runtime loads it together with "${other}.wasm", which offers models the tool "ReadUserMemory" as well.`,
    );
  }
  await expect(createRuntime({ dataDir: folder.path, plugins, policy })).rejects.toThrow(
    /the plugin "one", which is loaded too, offers models the tool "UpdateUserMemory" as well/,
  );
});

test("--html replaces an existing page and makes it readable by its owner only", async () => {
  const page = join(folder.path, "page.html");
  writeFileSync(page, "<!DOCTYPE html><p>an old one</p>", { mode: 0o644 });
  expect((await memcell(["audit", "user-memory", "--html", page])).status).toBe(0);
  expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>[^]*<\/html>\s*$/);
  expect(statSync(page).mode & 0o777).toBe(0o600);
});

const noPage = "a file that is not an audit page is in its place";
const noPlain = "a link or something other than a plain file is in its place";
test.for([
  { name: "the plugin", file: "plugin.wasm", says: noPage },
  { name: "the policy", file: "policy.json", says: noPage },
  { name: "a link", file: "link.html", says: "a link is in its place" },
  { name: "a file with two names", file: "two.html", says: noPlain },
  { name: "a folder that is not there", file: "absent/page.html", says: "its folder is not there" },
])("--html never writes to $name", async ({ file, says }) => {
  using place = temporaryFolder();
  const at = (name: string): string => join(place.path, name);
  copyFileSync(shippedPlugin("user-memory"), at("plugin.wasm"));
  for (const name of ["aim.html", "one.html"]) writeFileSync(at(name), "<!doctype html>");
  linkSync(at("one.html"), at("two.html"));
  symlinkSync(at("aim.html"), at("link.html"));
  writeFileSync(at("policy.json"), (await memcell(["audit", at("plugin.wasm"), "--propose"])).stdout);
  const hashes = (): string[] =>
    ["plugin.wasm", "policy.json", "aim.html", "one.html"].map((name) => hashOf(readFileSync(at(name))));
  const before = hashes();
  const args = ["audit", at("plugin.wasm"), "--policy", at("policy.json"), "--html", at(file)];
  const { status, stderr } = await memcell(args);
  expect(status).toBe(1);
  expect(stderr).toContain(`Cannot write the page: ${says}`);
  expect(hashes()).toEqual(before);
});

test("prints no colours when stdout is not a terminal, whatever the environment says", () => {
  const env = { ...process.env, FORCE_COLOR: "3", COLORTERM: "truecolor", TERM: "xterm-256color" };
  const { stdout } = spawnSync(process.execPath, [program, "audit", "user-memory"], { encoding: "utf8", env });
  expect(stdout).toMatch(/\nPASS {2}.*\n$/);
  expect(stdout).not.toContain("\u001b");
});
