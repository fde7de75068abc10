/** A program with a plugin of its own, whose types the plugin's build has written. */
import type { Runtime } from "memcell";

import type { HostTools, Tools } from "./sample.d.ts";

declare module "memcell" {
  interface ToolTypes extends Tools {}
  interface HostToolTypes extends HostTools {}
}

export async function characters(runtime: Runtime, text: string): Promise<number> {
  const ctx = { userId: "alice" };
  const result = await runtime.call("sample_write", { name: "note", text }, ctx);
  const listed = await runtime.callAsHost("sample/sample_entries", {}, ctx);
  // @ts-expect-error A text has a name.
  await runtime.call("sample_write", { text }, ctx);
  return result.ok && listed.ok ? result.data.characters + listed.data.entries.length : 0;
}
