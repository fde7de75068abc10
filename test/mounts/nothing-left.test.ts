/** A runtime that cannot be created leaves no thread behind, and the calling program goes on. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = `
import { createRuntime } from "memcell";
await createRuntime({ dataDir: process.argv[1] }).catch(({ code }) => console.log(code));
console.log(process.getActiveResourcesInfo().includes("MessagePort") ? "a thread" : "no thread");
`;

test("leaves nothing behind if the system's /proc cannot be trusted", (context) => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const hidden = ["--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"];
  if (spawnSync("unshare", [...hidden, "true"]).status !== 0) skipWithReason(context, "/proc cannot be hidden here");
  const args = [...hidden, process.execPath, "--input-type=module", "-e", program, dataDir];
  const { stdout, status } = spawnSync("unshare", args, { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "STORAGE_UNSAFE\nno thread\n", status: 0 });
});
