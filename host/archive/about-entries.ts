/**
 * The entries of an export that are no files of a scope. The label says what the zip file is, not whose files they were.
 * The origins, if there are any, say which files are trusted less than what nobody has told: anybody can make a zip file,
 * so an import only lowers trust by them.
 */
import { decodedName, encodedPath } from "../../shared/encoded-name.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import type { ExportedFile, MemoryFile } from "../values/memory-file.ts";
import { transferLimits } from "./transfer-limits.ts";

export const labelName = "memcell-export.json";
export const originsName = "memcell-origins.json";

/** An import trusts no file more than `unstated`, so only these classes change anything. */
const lowClasses = ["tool_external", "untrusted_document"] as const satisfies readonly OriginClass[];

/** What a file is called in an export: as its owner sees it on a disk. */
export const nameInExport = ({ scope, path }: Pick<MemoryFile, "scope" | "path">): string =>
  `${scope}/${decodedName(path)}`;

/** The names of files in the zip file. */
const names = z.optional(z.array(z.string()));

const labelSchema = z.object({ version: z.literal([1, 2]), files: z.int().check(z.nonnegative()) });
const originsSchema = z.strictObject({
  version: z.literal(1),
  trust: z.strictObject({ tool_external: names, untrusted_document: names }),
});

export type NamedEntry = readonly [name: string, content: Uint8Array];

/** What is written as a zip file or a folder. */
export interface WrittenExport {
  readonly files: readonly Omit<ExportedFile, "sha256">[];
  /** The files, or some of them, in the same order. */
  readonly contents: () => AsyncIterable<MemoryFile>;
}

/** The label, and the origins if a file is trusted less. */
export function aboutEntries(files: WrittenExport["files"]): NamedEntry[] {
  const scopes = [...new Set(files.map(({ scope }) => scope))].toSorted();
  // An export that has no other scope is written as version 1, which knew only this one.
  const isFirst = scopes.every((scope) => scope === "memory");
  const label = { version: isFirst ? 1 : 2, ...(isFirst ? { scope: "memory" } : { scopes }), files: files.length };
  const trust = lowClasses.flatMap((each) => {
    const ofClass = files.filter((file) => file.trust === each).map(nameInExport);
    return ofClass.length > 0 ? [[each, ofClass] as const] : [];
  });
  const origins = trust.length > 0 && { [originsName]: { version: 1, trust: Object.fromEntries(trust) } };
  const about = Object.entries({ [labelName]: label, ...origins });
  return about.map(([name, told]) => [name, Buffer.from(`${JSON.stringify(told)}\n`)]);
}

/** All entries of an export: those about it, and its files. */
export async function* entriesOf(
  exported: WrittenExport,
  about: readonly NamedEntry[] = aboutEntries(exported.files),
): AsyncGenerator<NamedEntry> {
  yield* about;
  for await (const file of exported.contents()) yield [nameInExport(file), file.content];
}

/** How many files an export had when it was written; `undefined` for a label of no known version. */
export const filesToldBy = (label: Uint8Array): number | undefined => parsed(labelSchema, label)?.files;

/** The trust of files, by their scope and path. `undefined` for no known version, or if a file is named twice. */
export function originsToldBy(bytes: Uint8Array): ReadonlyMap<string, OriginClass> | undefined {
  const trust = parsed(originsSchema, bytes)?.trust;
  const named = lowClasses.flatMap((each) =>
    (trust?.[each] ?? []).map((name) => [encodedPath(name) ?? name, each] as const),
  );
  const origins = new Map(named);
  return trust && origins.size === named.length ? origins : undefined;
}

function parsed<Schema extends z.ZodMiniType>(schema: Schema, bytes: Uint8Array): z.infer<Schema> | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return z.safeParse(schema, parseStrictJson(text, transferLimits.aboutDepthMax)).data;
  } catch {
    return undefined;
  }
}
