import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
const forAll = { testTimeout: 60_000, retry: 0 };
const polyglot = "test/polyglot/**/*.test.ts";
const mcp = "test/mcp/**/*.test.ts";
const load = "test/load/**/*.test.ts";

/** One configuration for all kinds of test; `test/README.md` says what each folder is for. */
export default defineConfig({
  test: {
    root,
    globalSetup: ["test/support/build-test-plugins.ts"],
    reporters: ["default", "./test/plain-reporter.ts"],
    projects: [
      { root, test: { ...forAll, name: "memcell", include: ["test/**/*.test.ts"], exclude: [polyglot, mcp, load] } },
      {
        root,
        test: {
          ...forAll,
          name: "polyglot",
          include: [polyglot],
          globalSetup: ["test/polyglot/prepare-hosts.ts"],
          // After all others and one by one: what they time, they have the machine for.
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
      {
        root,
        test: {
          ...forAll,
          name: "mcp",
          include: [mcp],
          globalSetup: ["test/mcp/prepare-clients.ts"],
          // Its suites start many processes: after those that are timed.
          sequence: { groupOrder: 2 },
        },
      },
      // All alone: it takes the whole machine.
      { root, test: { ...forAll, name: "load", include: [load], sequence: { groupOrder: 3 }, maxWorkers: 1 } },
    ],
  },
});
