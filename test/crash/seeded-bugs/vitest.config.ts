import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

/** The config of all tests, without building the test plugins: `npm run test:seeded` has built them. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    retry: 0,
  },
});
