/** Beside `audit.jsonl` lie its head and its full files: `audit.jsonl.head`, `audit.jsonl.000000000000.jsonl`. */
export const headNameOf = (name: string): string => `${name}.head`;

/** A full file is named after its first record. */
export const fullNameOf = (name: string, firstSeq: number): string =>
  `${name}.${String(firstSeq).padStart(12, "0")}.jsonl`;

/** Whether the name is such as lies beside another log: a log of that name would be written into it. */
export const isBesideName = (name: string): boolean => /\.(head|\d{12}\.jsonl)$/i.test(name);

/** The number of the first record in a full file of a log, as its name says; `null` for another file. */
export function firstSeqIn(fileName: string, name: string): number | null {
  if (!fileName.startsWith(`${name}.`)) return null;
  const digits = /^(\d{12})\.jsonl$/.exec(fileName.slice(name.length + 1))?.[1];
  return digits === undefined ? null : Number(digits);
}
