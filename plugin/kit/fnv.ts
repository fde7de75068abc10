/** FNV-1a: a 32-bit hash that spreads texts over files. Nobody's safety depends on it. */
export function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
