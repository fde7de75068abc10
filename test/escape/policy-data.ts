/** Data for every tool of the package: what each reads, changes and restores. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { userFolder, writeUserFiles } from "../support/user-files.ts";
import { noUtf8, writeStores } from "./store-uses.ts";

const eventLine = '{"type":"planner_note","timestamp":"2026-01-02T03:04:05Z","data":{"note":"n"},"labels":{}}\n';

const fact = (name: string): string =>
  `---\nname: ${name}\ndescription: d\ntype: user\ncreated: '2026-01-02T03:04:05.000Z'\n` +
  "updated: '2026-01-02T03:04:05.000Z'\n---\nbody\n";

/** A folder with entries and runs without an index or facts, some that cannot be read, and some in the trash. */
export function policyData(dataDir: string): string {
  const files = {
    "memory/old.md": fact("old"),
    "memory/kept.md": fact("kept"),
    "memory/broken.md": "No front matter.\n",
    "memory/trash/gone.20260102T030405000Z.md": fact("gone"),
    "journal/MEMORY.md": "### always\n\nb\n",
    "journal/2026/01/02.md": "### kept\n\nb\n",
    "runs/planner/old/000001.jsonl": eventLine,
    "runs/planner/kept/000001.jsonl": eventLine,
    "runs/planner/broken/000001.jsonl": eventLine,
    "runs/planner/broken/run.json": "No facts.\n",
    "runs/trash/planner/gone/000001.20260102T030405000Z.jsonl": eventLine,
  };
  writeUserFiles(dataDir, { alice: files });
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "/");
  const torn = {
    "journal/2026/01/03.md": "### torn\n\nb",
    [`journal/${today}.md`]: "### torn\n\nb",
    "runs/planner/kept/appends/000001.jsonl": "",
  };
  for (const [path, text] of Object.entries(torn)) {
    const file = join(userFolder(dataDir, "alice"), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, noUtf8(text));
  }
  writeStores(dataDir);
  return dataDir;
}
