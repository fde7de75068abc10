/** A process whose address space is too small for the engine: the host is at fault, not the plugin. */
import { spawnSync } from "node:child_process";
import { platform } from "node:process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

// The engine reserves about 10 GB for each memory: at the lower limit not the first one fits, at the higher one not the second.
test.for([8_000_000, 16_000_000])(
  "with %d KiB of addresses, a call is INTERNAL and names the memory",
  (kib, context) => {
    if (platform !== "linux") skipWithReason(context, "only Linux enforces ulimit -v");
    using folder = temporaryFolder();
    const input = JSON.stringify({ action: "upsert", name: "a", type: "user", description: "d", body: "b" });
    const args = [program, "call", "UpdateUserMemory", "--user", "alice", "--input", input, "--data", folder.path];
    const limited = ["-c", `ulimit -v ${kib}; exec "$0" "$@"`, process.execPath, ...args];
    const { status, stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: "INTERNAL", blame: "host", message: expect.stringContaining("no memory for the plugin") },
    });
    expect(stderr).toContain("Out of memory");
  },
);
