/** What a person does to one file after the power cut, before any host has started again. */
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { seededRandom } from "../../support/seeded-random.ts";
import type { Subject } from "../homes/subject.ts";
import { filesOn } from "../homes/subjects.ts";

export interface Act {
  readonly does: "edit" | "put back an older version" | "rename" | "remove";
  /** The files as they are then, by key; `null`: gone. */
  readonly made: Readonly<Record<string, string | null>>;
}

/** `null` if the disk has no file of the subject. `older`: the contents that its files had earlier. */
export function act(subject: Subject, dataDir: string, seed: number, older: readonly string[]): Act | null {
  const random = seededRandom(seed);
  const anyOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const files = existsSync(dataDir) ? Array.from(filesOn(subject, dataDir)) : [];
  // Of an empty file there is nothing to put into the trash.
  const [key, text] = anyOf(files.filter(([path, content]) => !path.includes("trash/") && content !== "")) ?? [];
  if (key === undefined || text === undefined) return null;
  const acts: readonly Act[] = [
    { does: "edit", made: { [key]: "a person's words\n" } },
    { does: "put back an older version", made: { [key]: anyOf(older) ?? text } },
    { does: "rename", made: { [key]: null, [key.replace(/[^/]+$/, "renamed.md")]: text } },
    { does: "remove", made: { [key]: null } },
  ];
  const chosen = anyOf(acts) ?? null;
  for (const [path, content] of Object.entries(chosen?.made ?? {})) {
    const file = join(dataDir, ...subject.placeOf(path));
    if (content === null) {
      rmSync(file);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    // As `cp -a` does it.
    if (chosen?.does === "put back an older version") utimesSync(file, 1, 1);
  }
  return chosen;
}
