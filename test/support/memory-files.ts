/** Memory files with fixed content, for writing and reading back. */
import type { MemoryFile } from "memcell";

/** The text of an entry as a tool writes it. */
export function entryText(name: string, body = `what is known of ${name}`): string {
  const fields = [`name: ${name}`, `description: about ${name}`, "type: user"];
  const times = ["created: '2026-01-01T00:00:00.000Z'", "updated: '2026-01-01T00:00:00.000Z'"];
  return `---\n${[...fields, ...times].join("\n")}\n---\n${body}`;
}

export const indexLine = (name: string): string => `- [${name}](${name}.md) \u2014 about ${name}\n`;

/** Paths inside a scope, each with its text, as the export gives them. */
export function asMemoryFiles(files: Readonly<Record<string, string>>, scope = "memory"): MemoryFile[] {
  return Object.entries(files).map(([path, text]) => ({ scope, path, content: Buffer.from(text) }));
}

/** Paths and texts as an object for `toEqual`. Bytes are shown as Latin-1. */
export function asTexts(files: readonly MemoryFile[]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, content }) => [path, Buffer.from(content).toString("latin1")]));
}
