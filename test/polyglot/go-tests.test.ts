/** The Go host's own tests, in Go: its contexts, and the package `runhistory`. Each is a test here. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect, inject, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { goTestNames, runGo, runGoTests, runWithRaceDetector } from "./go-tests.ts";
import type { GoTestResult } from "./go-tests.ts";
import { hostSources } from "./host-sources.ts";
import { programOf } from "./program-of.ts";

const host = inject("hosts").find(({ language }) => language === "Go");
if (!host) throw new Error("There is no Go host");

/** The first one waits for all of them, and compiles the race detector's runtime. */
const timeout = 10 * 60_000;

let results: Promise<Map<string, GoTestResult>> | null = null;

test.for(goTestNames)("%s", { timeout }, async (name, context) => {
  programOf(host, context);
  results ??= runGoTests(AbortSignal.timeout(timeout));
  const { action, output } = (await results).get(name) ?? { action: "did not run", output: "" };
  expect(action, output).toBe("pass");
});

test("the race detector finds nothing", { timeout }, async (context) => {
  programOf(host, context);
  const compiler = (await runGo(["env", "CC"])).trim();
  const isThere = await promisify(execFile)(compiler, ["--version"]).then(
    () => true,
    () => false,
  );
  if (!isThere) skipWithReason(context, `it needs a C compiler, and there is no ${compiler}`);
  expect(await runWithRaceDetector(AbortSignal.timeout(timeout))).toMatch(/^ok\s+memcell-host\s/m);
});

test("the sources are formatted, and go vet finds nothing", { timeout }, async (context) => {
  programOf(host, context);
  const { stdout } = await promisify(execFile)("gofmt", ["-l", hostSources("go")]);
  expect(stdout).toBe("");
  expect(await runGo(["vet", "./..."])).toBe("");
});
