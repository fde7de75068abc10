import { decodeContent, parseContent } from "./content-line.ts";

/**
 * The contents of a segment, in the order of its lines, without damaged ones. Of those that others are told from, only
 * these are held: a segment of differences can hold a hundred times its size.
 */
export function* contentsOfSegment(
  lines: readonly string[],
): Generator<{ readonly sha256: string; readonly content: Buffer }> {
  const parsed = lines.map(parseContent).filter((line) => line !== null);
  const uses = new Map<string, number>();
  for (const { like } of parsed) if (like !== undefined) uses.set(like.sha256, (uses.get(like.sha256) ?? 0) + 1);
  const bases = new Map<string, Buffer>();
  for (const line of parsed) {
    const content = decodeContent(line, (sha256) => bases.get(sha256) ?? null);
    if (line.like !== undefined) {
      const left = (uses.get(line.like.sha256) ?? 0) - 1;
      uses.set(line.like.sha256, left);
      if (left <= 0) bases.delete(line.like.sha256);
    }
    if (content === null) continue;
    if ((uses.get(line.sha256) ?? 0) > 0) bases.set(line.sha256, content);
    yield { sha256: line.sha256, content };
  }
}
