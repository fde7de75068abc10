import { quoted } from "../../shared/text.ts";
import { decodeText, digestOf } from "../store/reading.ts";
import { ToolError } from "../values/tool-error.ts";
import type { DiffOptions, FileDiff } from "./file-version.ts";
import { findFile, versionOf } from "./find-file.ts";
import { keptContent } from "./kept-content.ts";
import type { Operation } from "./operation.ts";
import { notKept } from "./restore-version.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { eachPart } from "./user-scopes.ts";

export async function diffVersions(
  operation: Operation,
  name: string,
  { from, to, scope: only }: DiffOptions,
): Promise<FileDiff> {
  const { scope, path } = await findFile(operation, { name, scope: only });
  const refusal = `Cannot ${operation.action} ${quoted(path)}`;
  const [both] = await eachPart(operation, { writes: false, only: [scope] }, async ({ held, reader }) => {
    const contentOf = async (seq: number, side: "before" | "sha256"): Promise<Uint8Array | null> => {
      const { [side]: sha256 } = await versionOf(operation, held, { scope, path, seq });
      const content = sha256 === null ? null : await keptContent(held, sha256);
      if (sha256 !== null && content === null) {
        throw notKept(refusal, `the content ${side === "before" ? "before" : "of"} version ${seq}`);
      }
      return content;
    };
    return {
      before: from === "before" ? await contentOf(to ?? 0, "before") : await contentOf(from, "sha256"),
      after: to === undefined ? await reader.bytesOf(scope, path) : await contentOf(to, "sha256"),
    };
  });
  const { before, after } = both ?? { before: null, after: null };
  return { scope, path, before: digestOf(before), after: digestOf(after), lines: await linesOf(before, after) };
}

/** A missing file has no lines. */
async function linesOf(...both: readonly (Uint8Array | null)[]): Promise<string[] | null> {
  try {
    const [before = "", after = ""] = both.map((bytes) => (bytes === null ? "" : decodeText(bytes, "")));
    return await unifiedDiff(before, after);
  } catch (error) {
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return null;
    throw error;
  }
}
