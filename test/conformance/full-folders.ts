/** Folders of many entries, and a runtime on one. */
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

export const fact = (description: string, body = ""): string =>
  `---\nname: x\ndescription: ${description}\ntype: user\ncreated: '2023-01-01T00:00:00.000Z'\n---\n${body}`;
export const entries = (count: number, description: string, body?: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`memory/${nameOf(at)}.md`, fact(description, body)]));
export const nameOf = (at: number): string => `e${String(at).padStart(4, "0")}`;
export const line = (at: number, description: string): string =>
  `- [${nameOf(at)}](${nameOf(at)}.md) \u2014 ${description}\n`;
export const index = (count: number, description: string): string =>
  Array.from({ length: count }, (_, at) => line(at, description)).join("");
export const upsert = (name: string): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "new",
  body: "",
});

export async function withUser(
  files: Record<string, string>,
  work: (runtime: Runtime, dataDir: string) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: files });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1 });
  await work(runtime, folder.path);
}
