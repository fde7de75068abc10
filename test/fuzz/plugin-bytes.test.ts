/** Some plugin files with a few bytes changed. `plugin-bytes.slow.test.ts` changes others. */
import { test } from "vitest";

import { changedFiles, expectAcceptedOrRefused, expectReadAlike, rearrangedFiles } from "./plugin-bytes.ts";

const rounds = { from: 0, to: 400 };

test.for([
  { name: "changed bytes", files: changedFiles },
  { name: "changed sections", files: rearrangedFiles },
])("a file with $name is accepted or PLUGIN_REFUSED, and the audit predicts which", ({ files }) =>
  expectAcceptedOrRefused(files(rounds)),
);

test("the host reads every module like the engine, or refuses it", () => expectReadAlike(rounds));
