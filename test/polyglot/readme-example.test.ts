/** The program in each host's README runs and does what the README says. */
import { expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { programOf } from "./program-of.ts";
import { runExample } from "./readme-example.ts";
import type { ExampleLanguage } from "./readme-example.ts";

/** Another program is compiled, but not its packages. */
const timeoutMs = 5 * 60_000;

// The main README shows Node's program; test/cli runs it.
test.for(inject("hosts").filter(({ language }) => language !== "Node"))(
  "the README's program for $language stores an entry and reads it",
  { timeout: timeoutMs },
  async (host, context) => {
    const program = programOf(host, context);
    using folder = temporaryFolder();
    const surroundings = { folder: folder.path, program, signal: context.signal };
    const stdout = await runExample(host.language as ExampleLanguage, surroundings);
    const files = foundFiles(`${folder.path}/data`)["alice"] ?? {};
    expect(Object.keys(files).toSorted()).toEqual(["memory/MEMORY.md", "memory/editor.md"]);
    expect(stdout).toContain("Since 1991.");
  },
);
