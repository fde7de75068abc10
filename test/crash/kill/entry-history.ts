/** Each call on an entry writes its own number, from 1, in several places. */
export const entryCall = (name: string, count: number): object => ({
  action: "upsert",
  name,
  type: "user",
  description: `number ${count}`,
  body: bodyOf(count),
});

export const bodyOf = (count: number): string => `${count}\n`.repeat(20);

/** The numbers that an entry's file and its line in the index show; 0 if it is not there. Throws if the file is torn. */
export function shownIn(
  files: Readonly<Record<string, string>>,
  name: string,
): Readonly<Record<"file" | "line", number>> {
  const index = files["memory/MEMORY.md"] ?? "";
  const line = new RegExp(`^- \\[${name}\\]\\(${name}\\.md\\) \u2014 number (\\d+)$`, "m").exec(index);
  const text = files[`memory/${name}.md`];
  const file = text === undefined ? null : /\ndescription: number (\d+)\n[^]*?\n---\n((?:\1\n){20})$/.exec(text);
  if (text !== undefined && file === null) throw new Error(`The file of ${name} is torn: ${text}`);
  return { file: Number(file?.[1] ?? 0), line: Number(line?.[1] ?? 0) };
}
