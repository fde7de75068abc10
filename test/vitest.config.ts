import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

/** One configuration for all kinds of test; `test/README.md` says what each folder is for. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("..", import.meta.url)),
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build-test-plugins.ts"],
    reporters: ["default", "./test/plain-reporter.ts"],
    testTimeout: 60_000,
    retry: 0,
  },
});
