/** Edits by people and other programs between calls. */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { pick } from "./random-calls.ts";
import type { Random } from "./random-calls.ts";

/** Makes the same change in every folder. */
export interface HandEdit {
  readonly what: string;
  apply(journal: string): void;
}

const strayFiles = [
  "MEMORY.md",
  "memory.md",
  "notes.md",
  "sub/MEMORY.md",
  "2020/01/01.md",
  "2020/01/02.MD",
  "sub/x.txt",
];
const pieces = [
  "plain text\n",
  "# A title\n\n## Section\n",
  "### k1\nby hand\n",
  "### by hand\n\nneedle\n\n",
  "### two words\nx\n<!-- agentool-memory: at=AT tags=a|b -->\n",
  "### k2\n\n\nx\n\ny\n\n<!-- agentool-memory: at=AT -->\n\n",
  "### ключ\n<!-- agentool-memory: at=AT tags=| a || -->\nlost text\n",
  "###  spaced key \t\nx\n  <!-- agentool-memory:at=AT tags=a-->  \n",
  "### broken meta\nx\n<!-- agentool-memory: nothing -->\nlost\n",
  "### broken too\nx\n<!-- agentool-memory: at=AT\n",
  "### \nno key\n",
  "<!-- agentool-memory: at=AT tags=stray -->\n",
  "### a\u00a0b\nx\n",
  "### crlf\r\n\r\nl1\r\nl2\r\n\r\n<!-- agentool-memory: at=AT tags=a -->\r\n\r\n",
];

/** Times that both sides order alike: all of one form, far before or far after the run's. */
function time(random: Random): string {
  const second = Math.floor(random() * 60)
    .toString()
    .padStart(2, "0");
  return `${pick(random, ["1999", "2099"])}-01-01T00:00:${second}+00:00`;
}

export function randomEdit(random: Random): HandEdit {
  const [kind, file] = [random(), pick(random, strayFiles)];
  const piece = pick(random, pieces).replaceAll("AT", time(random));
  if (kind < 0.35) {
    const apply = (journal: string): void => edit(join(journal, file), (text) => `${text}\n${piece}`);
    return { what: `append ${JSON.stringify(piece)} to ${file}`, apply };
  }
  if (kind < 0.6) {
    const apply = (journal: string): void => edit(join(journal, file), (text) => `${piece}${text}`);
    return { what: `put ${JSON.stringify(piece)} before ${file}`, apply };
  }
  // Chooses a file by its place in the sorted list, because both folders have the same files.
  const part = random();
  if (kind < 0.7) return toOne(part, "cut the end of", (text) => text.trimEnd());
  if (kind < 0.85) return toOne(part, "return-ise", (text) => text.replaceAll(/\r?\n/g, "\r\n"));
  const apply = (journal: string): void => {
    const [from] = chosen(journal, part);
    if (from === undefined) return;
    const to = join(journal, "moved", `${readdirSync(journal, { recursive: true }).length}.md`);
    mkdirSync(dirname(to), { recursive: true });
    if (kind < 0.95) renameSync(from, to);
    else rmSync(from);
  };
  return { what: `${kind < 0.95 ? "move" : "remove"} file ${part}`, apply };
}

function toOne(part: number, what: string, change: (text: string) => string): HandEdit {
  const apply = (journal: string): void => {
    for (const file of chosen(journal, part)) edit(file, change);
  };
  return { what: `${what} file ${part}`, apply };
}

function chosen(journal: string, part: number): readonly string[] {
  if (!existsSync(journal)) return [];
  const found = readdirSync(journal, { recursive: true, encoding: "utf8" });
  const files = found.filter((name) => statSync(join(journal, name)).isFile()).toSorted();
  return files
    .slice(Math.floor(part * files.length))
    .slice(0, 1)
    .map((name) => join(journal, name));
}

function edit(file: string, change: (text: string) => string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, change(existsSync(file) ? readFileSync(file, "utf8") : ""));
}
