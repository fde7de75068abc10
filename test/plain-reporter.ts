import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";

/** Ends a run with one plain line: `N passed, N failed`, and how many were skipped. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that fails to load, or whose hook fails, must not look like success.
    const broken = modules.filter((module) => !module.ok() && !hasFailedTest(module));
    const found = count("failed") + broken.length + errors.length;
    // A failed global setup ends a run without any module.
    const failed = found === 0 && reason !== "passed" ? 1 : found;
    const skipped = count("skipped");
    const line = `${count("passed")} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
    // After the other reporters, which write asynchronously.
    process.once("exit", () => process.stdout.write(`\n${line}\n`));
  }
}

const hasFailedTest = (module: TestModule): boolean =>
  [...module.children.allTests()].some((test) => test.result().state === "failed");
