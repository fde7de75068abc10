/** If a plugin's answer at the commit of an import differs from its answer at the plan, nothing is committed. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { asMemoryFiles } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { writeScriptedPlugin } from "../support/scripted-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolderNames } from "../support/user-files.ts";

const bob = { userId: "bob" };
const well = { findings: [], findingsHidden: 0 };

test.for([
  [
    "refuses a file",
    { ...well, refused: [{ path: "c.md", code: "NAME_CONFLICT", reason: "it is late" }] },
    "NAME_CONFLICT",
  ],
  ["answers with something else", { x: 1 }, "OUTPUT_INVALID"],
] as const)("commits nothing if the plugin %s", async ([, mending, code]) => {
  using folder = temporaryFolder();
  const inspect = { role: "inspect", answer: well, mendingAnswer: mending } as const;
  const plugins = [writeScriptedPlugin(folder.path, "inspector", { Inspect: inspect })];
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  const files = asMemoryFiles({ "c.md": "x" }, "notes");
  expect(await runtime.upkeep.planImport(bob, files)).toMatchObject({ created: ["notes/c.md"], refused: [] });
  await expect(runtime.upkeep.import(bob, files)).rejects.toMatchObject({ code });
  expect(userFolderNames(dataDir)).toEqual([]);
});
