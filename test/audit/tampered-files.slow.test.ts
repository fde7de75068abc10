/** The shipped plugin with one flipped bit in each kind of section. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { runAudit, unwrapped } from "./run-audit.ts";
import { folder, testTampered } from "./tampered-audits.ts";
import { flippedFiles, notReviewed, ofNoPlugin } from "./tampered-files.ts";

testTampered(flippedFiles);

test.for(flippedFiles)("$name makes the file differ from the reviewed one", ({ bytes }, { task }) => {
  const file = join(folder.path, `${task.id}.wasm`);
  writeFileSync(file, bytes);
  const said = unwrapped(runAudit([file]).stdout);
  expect(said.includes(notReviewed) || said.includes(ofNoPlugin)).toBe(true);
});
