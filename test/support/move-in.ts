/** Moves files in as a host does: their names first, then their texts, as many in each call as an input has room for. */
import { expect } from "vitest";

import { callLimits } from "../../shared/limits.ts";
import type { ConvertInput, ConvertOutput } from "../../shared/roles.ts";

/** A call of the tool with the role `convert`. */
export type Convert = (input: ConvertInput) => ConvertOutput | Promise<ConvertOutput>;

export interface MovedIn extends Pick<ConvertOutput, "format" | "entries" | "left"> {
  readonly calls: number;
}

interface MoveInOptions {
  /** Default: what the tool says. */
  readonly format?: string;
  readonly taken?: readonly string[];
  /** The bytes of texts in one call. */
  readonly bytesMax?: number;
}

const pathsMax = 1_000;
const envelopeBytes = 1_024;
const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const bytesOfCall = 192 * 1024;

export async function moveIn(
  files: Readonly<Record<string, string>>,
  convert: Convert,
  { format: chosen, taken = [], bytesMax = bytesOfCall }: MoveInOptions = {},
): Promise<MovedIn> {
  const all: ConvertOutput = { format: "", wants: [], entries: [], left: [], rest: null, carry: "" };
  let calls = 0;
  const ask = async (input: ConvertInput): Promise<ConvertOutput> => {
    const given = { ...input, carry: all.carry };
    const told = await convert(given);
    expect(jsonBytes(given)).toBeLessThanOrEqual(callLimits.inputBytesMax);
    expect(jsonBytes(told)).toBeLessThanOrEqual(callLimits.outputBytesMax - envelopeBytes);
    const { entries, left, wants, ...answer } = told;
    for (const [list, more] of [
      [all.entries, entries],
      [all.left, left],
      [all.wants, wants],
    ] as const)
      (list as unknown[]).push(...more);
    calls++;
    return Object.assign(all, answer);
  };
  const paths = Object.keys(files);
  for (let at = 0; at < paths.length; at += pathsMax) await ask({ paths: paths.slice(at, at + pathsMax) });
  const format = chosen ?? all.format;
  const queue = all.wants.map((path) => ({ path, bytes: Buffer.from(files[path] ?? "") }));
  while (queue.length > 0) {
    const batch = nextBatch(queue, bytesMax);
    const { rest } = await ask({ format, files: batch, taken: [...taken] });
    const done = rest === null ? batch.length : batch.findIndex(({ path }) => path === rest.path);
    queue.splice(0, done);
    const [first] = queue;
    if (rest === null || first === undefined) continue;
    if (done === 0 && rest.bytes === 0) throw new Error(`nothing of ${rest.path} was read`);
    queue[0] = { path: first.path, bytes: first.bytes.subarray(rest.bytes) };
  }
  if (all.wants.length > 0) await ask({ format, files: [] });
  return { format, entries: all.entries, left: all.left, calls };
}

type Piece = NonNullable<ConvertInput["files"]>[number];

/** Whole files as long as they fit, or a piece of the first. */
function nextBatch(queue: readonly { readonly path: string; readonly bytes: Buffer }[], bytesMax: number): Piece[] {
  const batch: Piece[] = [];
  let room = bytesMax;
  for (const { path, bytes } of queue) {
    if (bytes.length > room && batch.length > 0) break;
    const end = characterStart(bytes, Math.min(bytes.length, room));
    batch.push({ path, text: bytes.subarray(0, end).toString(), ...(end < bytes.length && { more: true }) });
    room -= end + path.length;
    if (room <= 0) break;
  }
  return batch;
}

/** Where the character begins that has the byte at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
