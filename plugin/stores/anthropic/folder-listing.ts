/** The lines of a folder's listing: a size, a tab and a path. */
import { shown } from "../../kit/hidden-text.ts";
import { oneLine } from "../../kit/one-line.ts";
import { fitsAnswer } from "./cut-lines.ts";

/** Several files of one path, by several creators, are one. */
interface File {
  readonly bytes: number;
  readonly creators: string[];
}

/** A folder and what is below it. Its size is that of all files below it, hidden ones included. */
interface Tree {
  bytes: number;
  readonly files: Map<string, File>;
  readonly folders: Map<string, Tree>;
}

export class FolderListing {
  readonly #root = newTree();

  /** `path`: from this folder. `creator`: "you", or another agent, whom the file's line names. */
  add(path: string, bytes: number, creator: string): void {
    const names = path.split("/");
    const file = names.pop() ?? "";
    let tree = this.#root;
    tree.bytes += bytes;
    for (const name of names) {
      const next = tree.folders.get(name) ?? newTree();
      tree.folders.set(name, next);
      tree = next;
      tree.bytes += bytes;
    }
    const present = tree.files.get(file) ?? { bytes: 0, creators: [] };
    tree.files.set(file, { bytes: present.bytes + bytes, creators: [...present.creators, creator] });
  }

  /**
   * The folder itself, then what is up to two levels below it and not hidden, each folder before what is in it. If not
   * all of it fits into an answer, a note says how much is left out.
   */
  text(path: string): string {
    const all = [line(this.#root.bytes, path), ...linesIn(this.#root, path.replace(/\/$/, ""), levelsMax)];
    let lines = all;
    while (!fitsAnswer(lines.join("\n"))) lines = lines.slice(0, Math.floor(lines.length * 0.9));
    const left = all.length - lines.length;
    return [...lines, ...(left === 0 ? [] : [`[${left} more: view a directory of them]`])].join("\n");
  }
}

const newTree = (): Tree => ({ bytes: 0, files: new Map(), folders: new Map() });

const levelsMax = 2;

function* linesIn({ files, folders }: Tree, path: string, levels: number): Generator<string> {
  if (levels === 0) return;
  for (const name of [...new Set([...files.keys(), ...folders.keys()])].toSorted()) {
    if (isHidden(name)) continue;
    const [file, folder] = [files.get(name), folders.get(name)];
    if (file !== undefined) yield line(file.bytes, `${path}/${name}`) + creatorsOf(file);
    if (folder === undefined) continue;
    yield line(folder.bytes, `${path}/${name}/`);
    yield* linesIn(folder, `${path}/${name}`, levels - 1);
  }
}

const creatorsOf = ({ creators }: File): string =>
  creators.every((each) => each === "you") ? "" : ` (created by ${creators.toSorted(youFirst).join(", ")})`;

const youFirst = (a: string, b: string): number => Number(b === "you") - Number(a === "you");

const isHidden = (name: string): boolean => name.startsWith(".") || name === "node_modules";

/** A person can put a file there whose key has line ends. It must not look like two files. */
const line = (bytes: number, path: string): string => `${fileSize(bytes)}\t${oneLine(shown(path), Infinity, "")}`;

/** A size as listings show it: "0B", "512B", "5.5K", "2M". */
export function fileSize(bytes: number): string {
  const unit = Math.min(units.length - 1, units.filter((_, at) => bytes >= 1024 ** (at + 1)).length);
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[unit]}`;
}

const units = ["B", "K", "M", "G"];
