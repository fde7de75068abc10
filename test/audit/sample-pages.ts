/** Pages of `memcell audit` for a browser: what passes, what fails, a busy log, a broken one, and hostile texts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { AuditEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit, callEntry, refusedEntry, useEntry, writeChain } from "./audited.ts";
import { imported, withTool } from "./changed-plugin.ts";
import { hostilePage } from "./hostile-texts.ts";
import { linesOf, logName, writeLines } from "./written-log.ts";

const tools = ["ReadUserMemory", "PromptIndex", "UpdateUserMemory", null];
/** One of them wants to choose all calls. */
export const users = ["alice", '"><option class="every">', "8f14e45f-ceea-467f-a8b1-52a0f3f1c6aa", "山田"];
const codes = ["CAPABILITY_DENIED", "DEADLINE_EXCEEDED", "INPUT_INVALID"] as const;
const origin = {
  class: "tool_external",
  run: "0192f0c1-6a1d-7cc3-98a4-2f6f3f1f7b10",
  turn: "12",
  source: "https://shop.example.com/menu?week=17&language=en",
} as const;

/** Every tenth call has failed, every seventh is from a web page, every fourth has changed something. */
export const calls = Array.from({ length: 120 }, (_, at) => {
  const code = at % 10 === 4 ? (codes[at % 3] ?? null) : null;
  const file = { scope: "memory", path: "a.md", bytes: 1 };
  return callEntry(at, {
    userId: users[at % users.length] ?? null,
    tool: tools[(at + Math.floor(at / 4)) % tools.length] ?? null,
    ...(at % 7 === 3 && { origin: { ...origin, exposedTo: ["direct_user", "tool_external"] } }),
    code,
    usesDenied: code === "CAPABILITY_DENIED" ? 1 : 0,
    ...(code === null && at % 4 === 2 ? { writes: [file] } : { writes: [], changes: "none" as const }),
  });
});
const noted: AuditEntry[] = [
  useEntry(1, { path: "../../bob/memory/secret.md" }),
  useEntry(2, { code: "STORAGE_UNSAFE", capability: "clock_now", scope: null, path: null }),
  refusedEntry({ times: 996, peer: null }),
];

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

const failing = [
  imported("wasi_snapshot_preview1", "fd_write"),
  withTool("ReadUserMemory", { rights: ["read", "write"] }),
  Buffer.from("no module"),
];
export const busyPage: string = await pageOf(["user-memory"], [...calls, ...noted]);
export const failingPage: string = await pageOf(failing, [...calls.slice(0, 20), ...noted], 3);

export const pages: readonly { readonly name: string; readonly html: string }[] = [
  { name: "a log", html: busyPage },
  { name: "plugins that fail and a broken log", html: failingPage },
  { name: "a plugin that passes, and a log without calls", html: await pageOf(["user-memory"], [{ kind: "closed" }]) },
  { name: "hostile texts", html: hostilePage() },
];
