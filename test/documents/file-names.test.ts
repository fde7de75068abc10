/** A document that names a file of the code names one that is there. */
import { expect, test } from "vitest";

import { codeIn, withoutBlocks } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

/** Made by a build, or named by whoever makes it. */
const placeholder = /NAME|^\S*x\.deferred\.ts$|^dist\/index\.d\.ts$/;

const documents = trackedFiles.filter((file) => /^[^.].*\.md$/.test(file) && file !== "CHANGELOG.md");

test.each(documents)("%s", (document) => {
  const named = codeIn(withoutBlocks(textOf(document))).filter((code) => /^[\w./*-]+\.ts$/.test(code));
  const unknown = named.filter((name) => !placeholder.test(name) && !isThere(name.replace(/^(\.\.?\/)+/, "")));
  expect(unknown).toEqual([]);
});

function isThere(name: string): boolean {
  const pattern = name.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*");
  return trackedFiles.some((file) => new RegExp(`(^|/)${pattern}$`).test(file));
}
