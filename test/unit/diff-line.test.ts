/** The lines of a diff on a terminal, and elsewhere. */
import { afterEach, expect, test, vi } from "vitest";

import { diffLine } from "../../host/cli/print-told.ts";

/** Standard output is a terminal for this test, or not. */
const onTerminal = (isTTY: boolean): void =>
  void vi.spyOn(process, "stdout", "get").mockReturnValue({ isTTY, hasColors: () => true } as typeof process.stdout);

afterEach(() => void vi.restoreAllMocks());

test("on a terminal, lines are coloured by what they say", () => {
  onTerminal(true);
  expect(["@@ -1 +1 @@", "-old", "+new", " same", ""].map(diffLine)).toEqual([
    "\u001b[36m@@ -1 +1 @@\u001b[39m",
    "\u001b[31m-old\u001b[39m",
    "\u001b[32m+new\u001b[39m",
    " same",
    "",
  ]);
});

test("a text cannot write to the terminal itself, and cannot end the colour of its line", () => {
  onTerminal(true);
  expect(diffLine("+a\u001b[39m\u001b[2Jb\rc")).toBe("\u001b[32m+a\\u001b[39m\\u001b[2Jb\\u000dc\u001b[39m");
  expect(diffLine("\\ No newline at end of file")).toBe("\\ No newline at end of file");
});

test("elsewhere, nothing is coloured", () => {
  onTerminal(false);
  expect(["@@ -1 +1 @@", "-old", "+new"].map(diffLine)).toEqual(["@@ -1 +1 @@", "-old", "+new"]);
});
