/** What the blocks of a file say. Parts are read when they are asked for: most blocks are only looked at. */
import { BlockScanner } from "./block-scanner.ts";
import type { BlockPlace } from "./block-scanner.ts";
import { unescapeContent } from "./escape.ts";
import { parseMemcellLine } from "./memcell-line.ts";
import { parseMeta } from "./meta-line.ts";
import { trim } from "./white-space.ts";

/** What stands below a block's content. */
export interface Footer {
  /** When it was written, as the file has it; empty without a line of meta. */
  readonly at: string;
  readonly tags: string[];
  /** When it was first written, where the block says it. */
  readonly created: string | null;
  readonly isEscaped: boolean;
  /** Behind the last line that belongs to the block. */
  readonly end: number;
}

/** The places of a file's blocks, in its order. */
export function placesIn(text: string): BlockPlace[] {
  const scanner = new BlockScanner(text);
  const places: BlockPlace[] = [];
  for (let place = scanner.next(); place !== null; place = scanner.next()) places.push(place);
  return places.filter((place) => keyAt(text, place) !== "");
}

/** Empty for a heading that begins no block. */
export function keyAt(text: string, { start, bodyStart }: BlockPlace): string {
  return trim(text.slice(start + "### ".length, bodyStart));
}

export function footerAt(text: string, { bodyStart, bodyEnd, metaEnd }: BlockPlace): Footer {
  const meta = bodyEnd === metaEnd ? null : parseMeta(text.slice(bodyEnd, metaEnd));
  if (meta === null) {
    const end = bodyEnd === metaEnd && trim(text.slice(bodyStart, bodyEnd)) === "" ? bodyStart : metaEnd;
    return { at: "", tags: [], created: null, isEscaped: false, end };
  }
  const behind = text.indexOf("\n", metaEnd);
  const end = behind === -1 ? text.length : behind + 1;
  const line = parseMemcellLine(text.slice(metaEnd, end).replace(/[\r\n]+$/, ""));
  if (line === null) return { ...meta, created: null, isEscaped: false, end: metaEnd };
  return { ...meta, ...line, end };
}

/** The content as it was written, but for what agentool's form does not keep: CR before LF, white space around it. */
export function contentAt(text: string, { bodyStart, bodyEnd }: BlockPlace, isEscaped: boolean): string {
  const body = text.slice(bodyStart, bodyEnd);
  const lines = body.includes("\r") ? body.replace(/\r+(?=\n|$)/g, "") : body;
  return trim(isEscaped ? unescapeContent(lines) : lines);
}
