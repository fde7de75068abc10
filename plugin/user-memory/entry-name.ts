import { ToolError } from "../kit/tool-error.ts";

export const indexPath = "MEMORY.md";

/** Device names on Windows. A file with such a name, with any extension, cannot be created there. */
const deviceName = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

const entryPathPattern = /^([a-zA-Z0-9_-]{1,100})\.md$/;

export const isEntryName = (text: string): boolean => /^[a-zA-Z0-9_-]{1,100}$/.test(text);

/** Throws `NAME_RESERVED` for the index's name, in any case, and for a device's name. */
export function refuseReservedName(name: string): void {
  if (!isReserved(name)) return;
  throw new ToolError(
    "NAME_RESERVED",
    `Cannot use the name "${name}": it is reserved, as are MEMORY and the device names of Windows (CON, NUL, COM1 …) in any case`,
  );
}

export function isReserved(name: string): boolean {
  if (name.length > reservedCharsMax) return false;
  return name.toLowerCase() === "memory" || deviceName.test(name);
}

/** Nearly every name is longer than the longest reserved one and needs no comparison. */
const reservedCharsMax = "memory".length;

/** Where tools put a new entry. A person's note can have the name and be elsewhere: `entry-names.ts`. */
export function entryPath(name: string): string {
  return `${name}.md`;
}

/** Returns the name of the entry at a path where tools put entries; `null` for any other path. */
export function entryNameAt(path: string): string | null {
  const name = entryPathPattern.exec(path)?.[1];
  return name === undefined || isReserved(name) ? null : name;
}

export function entryNotFound(name: string): ToolError {
  return new ToolError("ENTRY_NOT_FOUND", `Cannot find memory entry "${name}": no entry of this name exists`);
}
