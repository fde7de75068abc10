/** Which format files have, by their names alone, and which of them can have memories. How each is read, its text decides. */
import type { ConvertOutput } from "../../shared/roles.ts";

export const formats = ["claude-code", "claude-memory", "obsidian", "markdown", "mem0", "list"] as const;
export type Format = (typeof formats)[number];

export const isFormat = (text: string): text is Format => formats.some((format) => format === text);

/** What the names so far say. */
export interface NamesSeen {
  readonly markdown: number;
  readonly json: number;
  readonly others: number;
  readonly hasIndex: boolean;
  readonly hasVault: boolean;
}

export const noNames: NamesSeen = { markdown: 0, json: 0, others: 0, hasIndex: false, hasVault: false };

export interface Sorted extends Pick<ConvertOutput, "wants" | "left"> {
  readonly seen: NamesSeen;
}

export function sortPaths(paths: readonly string[], before: NamesSeen): Sorted {
  const wants: string[] = [];
  const left: ConvertOutput["left"] = [];
  const seen = { ...before };
  for (const path of paths) {
    const reason = whyNoMemory(path);
    seen.hasVault ||= /(?:^|\/)\.obsidian\//.test(path);
    if (reason !== null) {
      left.push({ path, reason });
      continue;
    }
    wants.push(path);
    if (isIndexPath(path)) seen.hasIndex = true;
    else if (/\.(?:md|markdown|mdown|mdx)$/i.test(path)) seen.markdown++;
    else if (/\.json$/i.test(path)) seen.json++;
    else seen.others++;
  }
  // What an index says describes the files that come after it.
  return { wants: [...wants.filter(isIndexPath), ...wants.filter((path) => !isIndexPath(path))], left, seen };
}

/** The index of Claude Code's memory, and of this one's. */
export const isIndexPath = (path: string): boolean => /(?:^|\/)MEMORY\.md$/.test(path);

export function formatOf({ markdown, json, others, hasIndex, hasVault }: NamesSeen): Format {
  if (hasVault) return "obsidian";
  if (hasIndex) return "claude-code";
  if (json > 0 && markdown + others === 0) return "mem0";
  if (markdown + json + others === 1) return "list";
  return others > 0 ? "claude-memory" : "markdown";
}

/** Why a file is none to read, as a clause about it; `null` if it can be. */
function whyNoMemory(path: string): string | null {
  if (/(?:^|\/)\.obsidian\//.test(path)) return "it is a setting of Obsidian";
  if (/(?:^|\/)\./.test(path)) return "it is hidden";
  const [, ending] = noText.exec(path) ?? [];
  return ending === undefined ? null : `it is no text, as .${ending.toLowerCase()} says`;
}

const noText =
  /\.(png|jpe?g|gif|webp|bmp|ico|tiff?|heic|avif|svg|pdf|epub|zip|gz|tgz|7z|rar|docx?|xlsx?|pptx?|odt|mp[34]|m4a|mov|wav|ogg|flac|webm|avi|db|sqlite3?|exe|dll|so|wasm|ttf|woff2?|canvas|excalidraw)$/i;
