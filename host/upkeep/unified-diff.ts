/** The difference of two texts as lines of a unified diff. The only file that imports `diff`. */

/** Lines around each change. */
const context = 3;

/** Longer computations give up: the texts then differ too much for a line of one to say anything about the other. */
const timeout = 500;

/**
 * The hunks, each with its `@@` line. A line begins with a space, `-` or `+`, and with `\` after a last line without a
 * line feed. Empty for equal texts; `null` if the texts differ too much.
 */
export async function unifiedDiff(before: string, after: string): Promise<string[] | null> {
  // Not at the start: few processes need it.
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", before, after, "", "", { context, timeout });
  if (patch === undefined) return null;
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`].concat(lines),
  );
}
