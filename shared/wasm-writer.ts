/** Writes WebAssembly binaries section by section: the counterpart of `wasm-sections.ts`. */
import { sectionIds } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";

const header = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

export function writeModule(sections: readonly WasmSection[]): Uint8Array {
  return concatBytes([
    header,
    ...sections.flatMap(({ id, payload }) => [Uint8Array.of(id), encodeUnsigned(payload.length), payload]),
  ]);
}

export function customSection(name: string, content: Uint8Array): WasmSection {
  const nameBytes = new TextEncoder().encode(name);
  return { id: sectionIds.custom, payload: concatBytes([encodeUnsigned(nameBytes.length), nameBytes, content]) };
}

/** LEB128 of a number from 0 to 2^32 - 1. */
export function encodeUnsigned(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.from([...bytes, rest]);
}

/** Signed LEB128 of an address below 2^31. */
export function encodeSigned(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x40) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  return Uint8Array.from([...bytes, rest]);
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
