/** More random paths. */
import { test } from "vitest";

import { expectConfinedCapabilities, expectConfinedStore } from "./confined-paths.ts";

test("the store reads, writes, lists and removes what is inside, and denies the rest", () =>
  expectConfinedStore(1_200));

test("capabilities answer the same, deny the trash, and write nothing to the disk", () =>
  expectConfinedCapabilities(4_000));
