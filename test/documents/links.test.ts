/** Every link from a document to a file of the tree, and to a heading in it, leads somewhere. */
import { posix } from "node:path";

import { expect, test } from "vitest";

import { textOf, trackedFiles } from "./tracked-files.ts";

const documents = trackedFiles.filter((file) => file.endsWith(".md"));
const folders = new Set(trackedFiles.flatMap((file) => parents(file)));

function parents(file: string): string[] {
  const folder = posix.dirname(file);
  return folder === "." ? ["."] : [folder, ...parents(folder)];
}

/** The links of a document, without those in code and those to other sites. */
function linksIn(text: string): string[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, "").replaceAll(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/ src="([^"]+)"/g)];
  return targets.map(([, target = ""]) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a document, as GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  const headings = text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function isBroken(document: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? document : posix.join(posix.dirname(document), path);
  if (folders.has(posix.normalize(`${file}/.`).replace(/\/$/, ""))) return anchor !== undefined;
  if (!trackedFiles.includes(file)) return true;
  return anchor !== undefined && !anchorsOf(textOf(file)).includes(anchor);
}

test.for(documents)("the links of %s", (document) => {
  expect(linksIn(textOf(document)).filter((target) => isBroken(document, target))).toEqual([]);
});
