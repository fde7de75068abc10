/** The licences that packages in a plugin may have. */

/** They require a notice or nothing. To allow another one is a person's decision, and is recorded here. */
const permissive: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Unlicense",
  "Zlib",
]);

/** Why a package with this `license` cannot be linked in, or `null`. Every alternative has to be permissive. */
export function licenceObjection(licence: unknown): string | null {
  if (typeof licence !== "string" || licence.trim() === "") return "it names no licence";
  const named = licence.replaceAll(/[()]/g, " ").split(/\s(?:AND|OR)\s/);
  const others = named.map((each) => each.trim().replaceAll(/\s+/g, " ")).filter((each) => !permissive.has(each));
  return others.length === 0 ? null : `its licence is "${licence}", allowed: ${[...permissive].join(", ")}`;
}
