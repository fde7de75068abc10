import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import LongestFirst from "./longest-first.ts";
import { rebuilds, whyShown } from "./shown-inputs.ts";
import { isLong } from "./stage/seed.ts";
import { memoryDisk } from "./support/temporary-folder.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const forAll = { testTimeout: 60_000, hookTimeout: 60_000, retry: 0 };
/** Most slow suites keep one core busy. */
const withOthers = { ...forAll, sequence: { groupOrder: 1 }, maxWorkers: 2 };
const slow = "test/**/*.slow.test.ts";
const polyglot = "test/polyglot/**/*.test.ts";
const mcp = "test/mcp/**/*.test.ts";
const adapters = "test/adapters/**/*.test.ts";
const load = "test/load/**/*.test.ts";
/** Slow suites that need the whole machine: they fill it with processes of their own, or race against time. */
const filling = [
  "test/bounds/*.slow.test.ts",
  "test/crash/backup/*.slow.test.ts",
  "test/crash/kill/kill-under-load.slow.test.ts",
  "test/escape/live-swap.slow.test.ts",
];
/** Rebuilds that have been shown for the present sources. */
const shown = whyShown("rebuilds") === null ? [] : [rebuilds];
/** Where fast suites make their folders: TMPDIR, or a disk in memory. With `TEST_LONG=1`, on a disk as the others. */
const ofMemory = isLong || process.env["TMPDIR"] !== undefined ? {} : { TMPDIR: memoryDisk() };
/** They measure the memory of their process, so no other suite may have run in it. */
const alone = "test/escape/guest-floods.test.ts";

/**
 * One configuration for all kinds of test; `test/README.md` says what each folder is for. `fast` and `fast-alone` are
 * the tier of `npm test`, all other projects that of `npm run test:slow`.
 */
export default defineConfig({
  test: {
    root,
    globalSetup: ["test/support/build-test-plugins.ts"],
    reporters: ["default", "./test/plain-reporter.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        root,
        test: {
          ...forAll,
          name: "fast",
          env: ofMemory,
          include: ["test/**/*.test.ts"],
          exclude: [slow, polyglot, mcp, adapters, load, alone],
          // Many of its tests wait: for a deadline, or for a process.
          maxWorkers: 2,
          // Suites share modules within a worker: evaluating them again for each file takes 40 s more.
          isolate: false,
        },
      },
      { root, test: { ...forAll, name: "fast-alone", env: ofMemory, include: [alone], maxWorkers: 2 } },
      {
        root,
        test: {
          ...withOthers,
          name: "slow",
          include: [slow],
          exclude: [polyglot, mcp, adapters, load, ...filling, ...shown],
          globalSetup: ["test/support/run-folder.ts"],
        },
      },
      {
        root,
        test: { ...withOthers, name: "polyglot", include: [polyglot], globalSetup: ["test/polyglot/prepare-hosts.ts"] },
      },
      {
        root,
        test: {
          ...withOthers,
          name: "adapters",
          include: [adapters],
          globalSetup: ["test/adapters/prepare-peers.ts"],
        },
      },
      { root, test: { ...withOthers, name: "mcp", include: [mcp], globalSetup: ["test/mcp/prepare-clients.ts"] } },
      {
        root,
        test: { ...forAll, name: "slow-alone", include: filling, sequence: { groupOrder: 2 }, maxWorkers: 1 },
      },
      // All alone: it takes the whole machine.
      { root, test: { ...forAll, name: "load", include: [load], sequence: { groupOrder: 3 }, maxWorkers: 1 } },
    ],
  },
});
