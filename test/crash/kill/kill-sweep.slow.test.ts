/**
 * Kills at other points in half of the scenarios, and the flushes of the command. With `TEST_LONG=1`, `kill-sweep.test.ts`
 * takes all points.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { isLong, oneIn, othersIn } from "../../stage/seed.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hostFolder } from "../store-under-test.ts";
import { whyNoTracing } from "../strace.ts";
import { testKills } from "./kill-suite.ts";

testKills({
  scenarios: (all) => (isLong ? all.slice(0, 1) : oneIn(2, all)),
  points: (all) => (isLong ? all.slice(0, 1) : othersIn(Math.ceil(all.length / 3), 2, all)),
});

test("a call on the command line is durable before it is printed", async (context) => {
  const reason = await whyNoTracing();
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const log = join(folder.path, "log");
  const input = JSON.stringify({ action: "upsert", name: "e", type: "user", description: "A fact", body: "" });
  const options = ["--user", "alice", "--data", join(folder.path, "data"), "--input", input];
  const command = [join(hostFolder, "cli/main.js"), "call", "UpdateUserMemory", ...options];
  const tracing = ["-f", "-o", log, "-e", "trace=fsync,fdatasync,write"];
  for (const user of ["a new user", "the same user again"]) {
    execFileSync("strace", [...tracing, process.execPath, ...command]);
    const [before = "", answer] = readFileSync(log, "utf8").split(" write(1, ");
    expect(answer, user).toBeDefined();
    expect(before, user).toMatch(/f(?:data)?sync(?:\(\d+\)| resumed>\)) += 0/);
  }
});
