/**
 * Step 3: puts the snapshot into the engine's module. The data section becomes the snapshot's memory. The memory
 * section gets the snapshot's size as minimum, and a maximum.
 */
import { readSections, sectionIds } from "../shared/wasm-sections.ts";
import type { MemoryLimits } from "../shared/wasm-sections.ts";
import { concatBytes, encodeSigned, encodeUnsigned, writeModule } from "../shared/wasm-writer.ts";

export const pageBytes = 65_536;

/** A shorter run of zeros is stored: leaving out one of 10 would save its segment 1 byte, and take an instance longer. */
const zeroRunBytesMin = 16;

export function writeImage(engine: Uint8Array, memory: Uint8Array, limits: MemoryLimits & { max: number }): Uint8Array {
  const runs = nonZeroRuns(memory);
  const sections = readSections(engine).map(({ id, payload }) => {
    if (id === sectionIds.memory) return { id, payload: memorySection(limits) };
    if (id === sectionIds.dataCount) return { id, payload: encodeUnsigned(runs.length) };
    if (id === sectionIds.data) return { id, payload: dataSection(memory, runs) };
    return { id, payload };
  });
  return writeModule(sections);
}

interface Run {
  readonly start: number;
  readonly end: number;
}

/** The stretches of memory that are not zero, with short gaps included. */
function nonZeroRuns(memory: Uint8Array): Run[] {
  const runs: Run[] = [];
  let start = -1;
  let lastNonZero = -1;
  for (let at = 0; at < memory.length; at++) {
    if (memory[at] === 0) continue;
    if (start >= 0 && at - lastNonZero > zeroRunBytesMin) {
      runs.push({ start, end: lastNonZero + 1 });
      start = at;
    }
    if (start < 0) start = at;
    lastNonZero = at;
  }
  if (start >= 0) runs.push({ start, end: lastNonZero + 1 });
  return runs;
}

function memorySection({ min, max }: MemoryLimits & { max: number }): Uint8Array {
  const oneMemory = 1;
  const hasMaximum = 1;
  return concatBytes([Uint8Array.of(oneMemory, hasMaximum), encodeUnsigned(min), encodeUnsigned(max)]);
}

function dataSection(memory: Uint8Array, runs: readonly Run[]): Uint8Array {
  const activeSegment = 0;
  const i32Const = 0x41;
  const end = 0x0b;
  const segments = runs.map((run) =>
    concatBytes([
      Uint8Array.of(activeSegment, i32Const),
      encodeSigned(run.start),
      Uint8Array.of(end),
      encodeUnsigned(run.end - run.start),
      memory.subarray(run.start, run.end),
    ]),
  );
  return concatBytes([encodeUnsigned(runs.length), ...segments]);
}
