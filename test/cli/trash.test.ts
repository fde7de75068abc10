/** `memcell trash`: what it adds to the operations are a table, names, and a purge that only --yes makes. */
import { expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const user = ["--user", "alice"];
const old = "20200102T030405678Z";
const late = "29990102T030405678Z";
const trashed = { [`memory/trash/a.${old}.md`]: "x", [`memory/trash/b.${late}.md`]: entryText("b") };
const row = `2020-01-02T03:04:05.678Z         1 bytes  a.${old}.md  (memory)\n`;

test("lists, restores and purges files; without --yes a purge only says what would go", async () => {
  using at = commandStage({ alice: { ...trashed, "memory/MEMORY.md": "" } });
  expect((await at.memcell("trash", "list", ...user)).stdout).toContain(row);
  const purge = ["trash", "purge", "--older-than", "30d", ...user];
  const nothing = "Nothing was changed; use --yes to purge\n";
  for (const more of [[], ["--dry-run"]]) {
    expect(await at.memcell(...purge, ...more)).toEqual({ status: 0, stdout: `${row}${nothing}`, stderr: "" });
  }
  const asJson = await at.memcell(...purge, "--json");
  expect(JSON.parse(asJson.stdout)).toHaveLength(1);
  expect(asJson.stderr).toBe(nothing);
  expect(await at.memcell("trash", "restore", "b", ...user)).toMatchObject({ status: 0 });
  expect(await at.memcell(...purge, "--yes")).toMatchObject({ status: 0, stdout: row });
  expect(at.files("alice")).toEqual({ "memory/MEMORY.md": indexLine("b"), "memory/b.md": entryText("b") });
  expect(errorOf(await at.memcell("trash", "restore", "b", ...user)).code).toBe("ENTRY_NOT_FOUND");
});

test("restore brings back all files of a run by the run's name, and prints the first", async () => {
  const texts = { "run.json": "{}", "000001.jsonl": "one", "000002.jsonl": "two" };
  const inTrash = Object.entries(texts).map(([name, text]) => [name.replace(".", `.${old}.`), text] as const);
  using at = commandStage({
    alice: Object.fromEntries(inTrash.map(([name, text]) => [`runs/trash/agent/run/${name}`, text])),
  });
  expect(await at.memcell("trash", "restore", "agent/run", ...user)).toEqual({
    status: 0,
    stderr: "",
    stdout: `2020-01-02T03:04:05.678Z         2 bytes  agent/run/run.${old}.json  (runs)\n`,
  });
  expect(at.files("alice")).toEqual(
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [`runs/agent/run/${name}`, text])),
  );
});
