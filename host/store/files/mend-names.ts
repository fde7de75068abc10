/**
 * Gives files and folders whose names no path has the nearest names that a path can have, so that tools read them. Only a
 * person asks for this, who has read what was found. Nothing is overwritten; links and pipes stay as they are.
 */
import { encodedName, isEncodedName } from "../../../shared/encoded-name.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, scopeName, trashFolder } from "../../../shared/path.ts";
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import { giveTurn } from "../../values/turns.ts";
import { folded } from "./folded-names.ts";
import type { FileHome } from "./home.ts";

/**
 * Renames what is below the scopes of a home, unless that is a mounted folder. Its lock is held, and nothing that a crash has
 * left waits.
 */
export async function mendNames(home: FileHome, folder: Directory): Promise<void> {
  if (home.kind === "mount") return;
  for (const { name, kind } of folder.entries()) {
    using scope = kind === "folder" && scopeName.test(name) ? folder.openFolder(name) : null;
    if (scope !== null) await mendBelow(scope, "");
  }
}

async function mendBelow(folder: Directory, above: string): Promise<void> {
  const entries = folder.entries();
  const free = new FreeNames(entries, above);
  let isChanged = false;
  for (const entry of entries) {
    await giveTurn();
    const name = free.nearestTo(entry);
    if (name !== null && folder.giveName(entry.name, name)) isChanged = true;
  }
  if (isChanged) await folder.flush();
  for (const { name, kind } of isChanged ? folder.entries() : entries) {
    const path = above + name;
    using below = kind === "folder" && isScopePath(path) ? folder.openFolder(name) : null;
    if (below !== null) await mendBelow(below, `${path}/`);
  }
}

/** The names that are free in a folder. */
export class FreeNames {
  /** The path of the folder and a slash; empty for that of a scope. */
  readonly above: string;
  readonly #entries: readonly DirectoryEntry[];
  #taken: Set<string> | null = null;

  constructor(entries: readonly DirectoryEntry[], above: string) {
    this.#entries = entries;
    this.above = above;
  }

  /**
   * Takes the name that `mendNames` gives, as paths have it; `null` if it gives none: the name is well, or another program's,
   * or no name that is near can be in a path there.
   */
  nearestTo({ name, kind }: DirectoryEntry): string | null {
    if (kind === "other" || name.startsWith(".") || isScopePath(this.above + name)) return null;
    // What is only like the trash must not become it.
    this.#taken ??= new Set([
      ...this.#entries.map((each) => folded(each.name)),
      ...(this.above === "" ? [trashFolder] : []),
    ]);
    const { stem, ending } = partsOf(name);
    const bytesMax = storeLimits.pathBytesMax - trashBytes - decodedBytes(this.above);
    for (let number = 1; number <= numbersMax; number++) {
      const end = (number === 1 ? "" : ` ${number}`) + ending;
      const encoded = encodedName(cut(stem, bytesMax - Buffer.byteLength(end)) + end);
      if (encoded === null || !isScopePath(this.above + encoded)) return null;
      if (this.#taken.has(folded(encoded))) continue;
      this.#taken.add(folded(encoded));
      return encoded;
    }
    return null;
  }
}

const numbersMax = 100;
/** What the name of a file in the trash has in addition. */
const trashBytes = "trash/.20260101T000000000Z-999".length;

/** The name without what no path can have, and its ending. */
function partsOf(name: string): { readonly stem: string; readonly ending: string } {
  const composed = asText(name)
    .normalize("NFC")
    .replaceAll(/\s*[\p{Cc}\p{Zl}\p{Zp}]\s*/gu, " ")
    .replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .replaceAll(/[/\\:\p{Cs}\ufff0-\uffff]|%(?=[0-9a-fA-F]{2})/gu, "-")
    .trim();
  const [, stem = "", ending = ""] = /^(.*?)(\.[A-Za-z0-9]{1,16})?$/s.exec(composed) ?? [];
  const clean = stem.replace(/^[\s.]+/, "").trimEnd();
  return { stem: encodedName(clean) === null ? `${clean === "" ? "unnamed" : clean}_` : clean, ending };
}

/** Of a name that is written as in a path, what it means. */
function asText(name: string): string {
  const onDisk = name.replaceAll("%25", "%");
  return isEncodedName(onDisk) && onDisk !== name ? decodeURIComponent(onDisk) : name;
}

/** The beginning of a text that has at most so many bytes. */
function cut(text: string, bytesMax: number): string {
  let kept = "";
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytesMax) break;
    kept += character;
  }
  return kept.trimEnd();
}

const decodedBytes = (path: string): number => path.length - 2 * (path.split("%").length - 1);
