/** What the README tells people to run, run. */
import { readFileSync } from "node:fs";

import { expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { programOf } from "./program-of.ts";
import { programIn, runExample } from "./readme-example.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** Another program is compiled, though not the packages. */
const timeoutMs = 5 * 60_000;

test.for(inject("hosts"))(
  "the README's program for $language stores an entry and reads it",
  { timeout: timeoutMs },
  async (host, context) => {
    const program = programOf(host, context);
    const { language } = host;
    using folder = temporaryFolder();
    const surroundings = { folder: folder.path, program, signal: context.signal };
    const stdout = await runExample(language, programIn(readme, language), surroundings);
    const files = foundFiles(`${folder.path}/data`)["alice"] ?? {};
    expect(Object.keys(files).toSorted()).toEqual(["memory/MEMORY.md", "memory/editor.md"]);
    expect(stdout).toContain("Since 1991.");
  },
);
