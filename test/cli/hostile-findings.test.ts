/** A plugin's texts on a terminal: they cannot move the cursor or look like a line of the host. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { program } from "../stage/serve-lines.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const data = join(folder.path, "data");

function memcell(plugins: readonly string[], ...args: readonly string[]) {
  const policy = join(folder.path, "policy.json");
  writeFileSync(policy, JSON.stringify(policyFor(plugins)));
  const loaded = plugins.flatMap((plugin) => ["--plugin", plugin]);
  const settings = ["--data", data, "--user", "alice", "--policy", policy, ...loaded];
  return spawnSync(process.execPath, [program, ...args, ...settings], { cwd: folder.path, encoding: "utf8" });
}

const finding = {
  problem: "odd",
  path: "a.md",
  message: "\u001b[2Jit is odd\n1 user checked\u009b1A",
  remedy: "\u202emend it\r",
};
const unfit = [{ path: "a.md", code: "INPUT_INVALID", reason: "\u001b[2Jit is\nodd" }];

test("doctor and import print findings and reasons with escapes, as text and as JSON", () => {
  writeUserFiles(data, { alice: { "notes/a.md": "x" } });
  const answer = { findings: [finding], findingsHidden: 0, unfit };
  const plugins = [writeScriptedPlugin(folder.path, "hostile", { Inspect: { role: "inspect", answer } })];
  const { stdout, status } = memcell(plugins, "doctor");
  expect({ stdout, status }).toEqual({
    stdout:
      '"alice"\n  notes/a.md: \\u001b[2Jit is odd\\u000a1 user checked\\u009b1A\n' +
      "    to mend: \\u202emend it\\u000d\n1 user checked\n",
    status: 1,
  });
  const json = memcell(plugins, "doctor", "--json").stdout;
  expect(json).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
  expect(JSON.parse(json)).toMatchObject([{ findings: [{ message: finding.message, remedy: finding.remedy }] }]);
  const zip = join(folder.path, "x.zip");
  expect(memcell(plugins, "export", zip).stdout).toBe("1 file, 1 bytes written\n");
  const planned = memcell(plugins, "import", zip).stdout;
  expect(planned).toContain("notes/a.md: \\u001b[2Jit is\\u000aodd\n");
});

test("doctor --fix reports the mends of other plugins although one plugin has failed", () => {
  writeUserFiles(data, { alice: { "memory/a.md": "no entry" } });
  const Inspect = { role: "inspect", rights: ["write"], answer: { nope: 1 } } as const;
  const requests = [["store_write", { scope: "notes", path: "a.md", content: "x" }]] as const;
  const plugins = [
    writeScriptedPlugin(folder.path, "failing", { Inspect: { ...Inspect, requests } }),
    shippedPlugin("user-memory"),
  ];
  const { stdout, status } = memcell(plugins, "doctor", "--fix", "--json");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      mended: [{ problem: "index-missing" }, { problem: "entry-incomplete" }],
      remaining: [{ problem: "not-inspected", path: "notes" }],
      error: { code: "OUTPUT_INVALID" },
    },
  ]);
});

test("a guest's log text stays in its own lines", () => {
  const input = JSON.stringify([{ log: "\u001b[2Jfine\nerror host: gone", times: 1 }]);
  const { stderr } = memcell([testPlugin("puppet")], "call", "Puppet", "--input", input);
  expect(stderr).toMatch(/^\w+ Puppet: \\u001b\[2Jfine\n {2}error host: gone\n$/);
});
