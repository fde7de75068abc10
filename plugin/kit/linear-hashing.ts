/**
 * Linear hashing spreads things over numbered files, and adds one file at a time. Then only the things of one earlier
 * file move.
 */

/** The number of a thing's file among `files`, from 1. */
export function fileOf(id: string, files: number): number {
  const hash = fnv(id);
  const half = powerUpTo(files);
  const wide = hash % (half * 2);
  return (wide < files ? wide : hash % half) + 1;
}

/** The file that loses things when the file of this number is added. */
export function splitFor(added: number): number {
  return added - powerUpTo(added - 1);
}

/** The greatest power of two that is not greater. */
const powerUpTo = (files: number): number => 2 ** Math.floor(Math.log2(files));

/** FNV-1a: a 32-bit hash that spreads texts over files. Nobody's safety depends on it. */
export function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
