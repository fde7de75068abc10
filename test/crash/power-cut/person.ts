/** What a person does to one file after the power cut, before any host has started again. */
import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { seededRandom } from "../../support/seeded-random.ts";
import { readUserFiles, userFolder } from "../../support/user-files.ts";
import { users } from "./operations.ts";
import type { Owner, OwnerState } from "./operations.ts";

export interface Act {
  readonly does: (typeof kinds)[number];
  readonly owner: Owner;
  /** The paths that the person has changed. */
  readonly paths: readonly string[];
  /** Where the person's text is then, and the text; `null` if the person has only removed something. */
  readonly made: { readonly path: string; readonly text: string } | null;
}

const kinds = ["edit", "put back an older version", "rename", "remove"] as const;

/** `null` if the disk has no user's file. `older` has the contents that a file had earlier. */
export function act(dataDir: string, seed: number, older: readonly ReadonlyMap<Owner, OwnerState>[]): Act | null {
  const random = seededRandom(seed);
  const anyOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const found = users.flatMap((owner) => (existsSync(userFolder(dataDir, owner)) ? filesOf(dataDir, owner) : []));
  const [file, does] = [anyOf(found), anyOf(kinds)];
  if (file === undefined || does === undefined) return null;
  const { owner, path, at } = file;
  const done = (text: string, to = path): Act => ({ does, owner, paths: [path, to], made: { path: to, text } });
  switch (does) {
    case "edit":
      writeFileSync(at, "a person's words\n");
      return done("a person's words\n");
    case "put back an older version": {
      const text = anyOf(older.flatMap((state) => state.get(owner)?.[path] ?? [])) ?? file.text;
      // As `cp -a` does it.
      writeFileSync(at, text);
      utimesSync(at, 1, 1);
      return done(text);
    }
    case "rename":
      renameSync(at, join(dirname(at), "renamed.md"));
      return done(file.text, `${dirname(path)}/renamed.md`);
    case "remove":
      rmSync(at);
      return { does, owner, paths: [path], made: null };
  }
}

interface FoundFile {
  readonly owner: Owner;
  readonly path: string;
  readonly text: string;
  readonly at: string;
}

function filesOf(dataDir: string, owner: (typeof users)[number]): FoundFile[] {
  const files = Object.entries(readUserFiles(dataDir, owner)).filter(([path]) => !path.includes("/trash/"));
  return files.map(([path, text]) => ({ owner, path, text, at: join(userFolder(dataDir, owner), path) }));
}

/**
 * How the act fares: `kept` where it was made, `in the trash`, `undone`, or `lost`, which is a fault. Of an empty file
 * there is nothing to put into the trash.
 */
export function fareOf({ paths, made }: Act, after: OwnerState): "kept" | "in the trash" | "undone" | "lost" {
  if (made === null) return paths.some((path) => path in after) ? "undone" : "kept";
  if (after[made.path] === made.text) return "kept";
  if (made.text === "") return "undone";
  const trashed = Object.entries(after).filter(([path]) => path.includes("/trash/"));
  return trashed.some(([, text]) => text === made.text) ? "in the trash" : "lost";
}
