import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line: `N passed, N failed`, and how many were skipped. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that fails to load has no tests, and must not look like success.
    const broken = modules.filter((module) => module.state() === "failed" && !module.children.allTests().next().value);
    const skipped = count("skipped");
    const line = `${count("passed")} passed, ${count("failed") + broken.length + errors.length} failed`;
    // After the other reporters, which write asynchronously.
    process.once("exit", () => process.stdout.write(`${line}${skipped ? `, ${skipped} skipped` : ""}\n`));
  }
}
