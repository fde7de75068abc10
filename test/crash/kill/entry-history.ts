/** The effect of each call on an entry: it writes its own number, and every seventh call deletes the entry. */

const isDelete = (count: number): boolean => count % 7 === 0;

export function entryCall(name: string, count: number): object {
  if (isDelete(count)) return { action: "delete", name };
  return { action: "upsert", name, type: "user", description: `number ${count}`, body: bodyOf(count) };
}

export const bodyOf = (count: number): string => `${count}\n`.repeat(20);

/** The number that an entry shows after this many calls; `null` if it is not there. */
export const shownAfter = (count: number): number | null => (count === 0 || isDelete(count) ? null : count);

/** The number that an entry's file and its line in the index show. Throws if they differ or the file is torn. */
export function shownIn(files: Readonly<Record<string, string>>, name: string): number | null {
  const { file, line } = shownApart(files, name);
  if (file !== line) throw new Error(`The file of ${name} shows ${file}, its line ${line}`);
  return file;
}

/** As `shownIn`, but they may differ. */
export function shownApart(
  files: Readonly<Record<string, string>>,
  name: string,
): Readonly<Record<"file" | "line", number | null>> {
  const line = new RegExp(`^- \\[${name}\\]\\(${name}\\.md\\) \u2014 number (\\d+)$`, "m").exec(
    files["memory/MEMORY.md"] ?? "",
  );
  const text = files[`memory/${name}.md`];
  const file = text === undefined ? null : /\ndescription: number (\d+)\n[^]*?\n---\n((?:\1\n){20})$/.exec(text);
  if (text !== undefined && file === null) throw new Error(`The file of ${name} is torn: ${text}`);
  return { file: numberIn(file), line: numberIn(line) };
}

const numberIn = (found: RegExpExecArray | null): number | null => (found === null ? null : Number(found[1]));
