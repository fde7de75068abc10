import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

/** As for all tests, without building the test plugins each time: the runs without a bug, which come first, have done it. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    retry: 0,
  },
});
