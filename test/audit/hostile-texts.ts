/** Texts that a plugin or a log could have for their effect, and files and pages that have them in every place. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import type { AuditEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit, callEntry, refusedEntry, useEntry, writeChain } from "./audited.ts";
import { everyTool, manifestSections, otherSections, resealed } from "./changed-plugin.ts";
import { linesOf, logName, writeLines } from "./written-log.ts";

/** For a page. Each leaves a trace when it runs: a property of the window, a console message, or a request. */
export const payloads: readonly string[] = [
  "<script>window.ran = 1; console.log('ran')</script>",
  '"><img src=x onerror="window.ran = 1">',
  "'><svg onload='window.ran = 1'>",
  "</style><script>window.ran = 1</script><style>body { display: none }",
  "</title><script>window.ran = 1</script>",
  "--><!-- <![CDATA[",
  "</table></section></main><h1>PASS</h1>",
  "javascript:window.ran=1",
  '<meta http-equiv="refresh" content="0;url=https://attacker.example/"><base href="https://attacker.example/">',
  '" onmouseover=window.ran=1 style=background:url(https://attacker.example/) x="',
  "&lt;script&gt;window.ran = 1&lt;/script&gt; &#60;b&#62;",
  "\u2066\u2067isolated\u2069 \u202eright\u200e\u061c",
  "\u001b[2J\u001b[1;32mPASS\u001b[0m\u0007\u0000\u0085",
  "zero\u200bwidth\u2060\ufeff \u00ad \u3164 \u{e0041}tag",
  "line\nbreak\r\nand\u2028more\u2029",
  "lone \ud800 half \udc00",
  `piled${"\u0301\u0489".repeat(500)}`,
  `name${"\u00a0".repeat(200)}FAIL`,
  "x".repeat(100_000),
  "W\u0300".repeat(50_000),
];

/** Everything but visible characters, spaces and the report's own line feeds. */
export const unsafeOnTerminal: RegExp = /[^\P{C}\n]|[\u2028\u2029]|\p{Default_Ignorable_Code_Point}/u;

/** Plugin files that have texts in the places that a report shows. */
export function filesWith(next: () => string): Uint8Array[] {
  const added = payloads.map(() => customSection(next(), Uint8Array.of(1)));
  return [
    writeModule([...added, ...otherSections, ...manifestSections]),
    resealed({ name: next(), version: next(), instructions: next(), [next()]: next() }),
    resealed({ name: next() }),
    resealed({ tools: everyTool({ description: next(), name: next(), scopes: [next()] }) }),
    resealed({ errors: [{ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: next() }] }),
  ];
}

/** Records that have texts in the places that a caller or a guest fills. */
export function recordsWith(next: () => string): AuditEntry[] {
  // More make a record invalid.
  const named = (): string => next().slice(0, 60) || " ";
  const ofCall = () => ({ userId: named(), callId: named(), tool: named() });
  const uses = payloads.map((_, at) => useEntry(at, { ...ofCall(), scope: named(), path: named() }));
  const origin = { class: "direct_user", source: payloads[0] } as const;
  const calls = payloads.map((_, at) => callEntry(at, { ...ofCall(), origin, usesDenied: 1 }));
  return [...calls, ...uses, refusedEntry({ userId: named() })];
}

/** The page of some plugins and a log of these entries, of which a line can be removed. */
export async function pageOf(
  plugins: readonly (string | Uint8Array)[],
  entries: readonly AuditEntry[],
  without?: number,
): Promise<string> {
  using folder = temporaryFolder();
  const files = plugins.map((plugin, at) => {
    if (typeof plugin === "string") return plugin;
    const file = join(folder.path, `the-long-name-of-a-plugin-file-version-12.34.567${at}.wasm`);
    writeFileSync(file, plugin);
    return file;
  });
  writeChain(join(folder.path, logName), entries);
  if (without !== undefined) writeLines(folder.path, logName, linesOf(folder.path).toSpliced(without, 1));
  return (await audit(...files, "--log", join(folder.path, logName))).page;
}

/** A page of hostile texts, or of honest ones in the same places. */
export async function pageWith(texts: readonly string[]): Promise<string> {
  let at = 0;
  const next = (): string => texts[at++ % texts.length] ?? "";
  const files = Array.from({ length: 2 }, () => filesWith(next)).flat();
  return await pageOf(files, recordsWith(next), 3);
}
