/** Some random paths. `confined-paths.slow.test.ts` tries more. */
import { test } from "vitest";

import { expectConfinedCapabilities, expectConfinedStore } from "./confined-paths.ts";

test("the store reads, writes, lists and removes files inside the grammar, and denies other paths", () =>
  expectConfinedStore(300));

test("capabilities answer the same, refuse changes of the trash, and write nothing to the disk", () =>
  expectConfinedCapabilities(1_000));
