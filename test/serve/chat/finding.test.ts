/**
 * A chat client that shows its model tools and nothing else finds entries with `SearchUserMemory`: no index, no
 * resource and no prompt tells it a name.
 *
 * `entries.txt` is the memory of one person, Hanna; `questions.json` is what a model asks it, in its own words, after
 * something that she has said. Each question has one right entry. None of both was changed after the search had
 * answered, and none may be: a question that is made to fit the search says nothing about it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { connect } from "../../stage/mcp-clients.ts";
import type { Connected } from "../../stage/mcp-clients.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeUserFiles } from "../../support/user-files.ts";

interface Question {
  readonly query: string;
  readonly type?: string;
  /** The only entry with the answer, and the answer as its body has it. */
  readonly name: string;
  readonly fact: string;
}

interface Page {
  readonly entries: { readonly name: string; readonly type: string }[];
}

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
const questions = JSON.parse(textOf("questions.json")) as Question[];
/** Each is `# name type: description`, then its body. */
const entries = textOf("entries.txt")
  .split(/^# /m)
  .slice(1)
  .map((text) => {
    const [, name = "", type = "", description = "", body = ""] = /^(\S+) (\w+): (.+)\n([^]*)\n$/.exec(text) ?? [];
    return { name, type, description, body };
  });

const hitsRead = 5;
const foundMin = 18;

const folder = temporaryFolder();
let served: Connected;
beforeAll(async () => {
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, { hanna: memoryFiles() });
  served = await connect("2025-11-25", ["--user", "hanna", "--data", dataDir]);
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Files as the tool writes them. */
function memoryFiles(): Record<string, string> {
  const lines = entries.map(({ name, description }) => `- [${name}](${name}.md) \u2014 ${description}\n`);
  const files = entries.map(({ name, type, description, body }, hour) => {
    const time = new Date(Date.UTC(2024, 0, 1, hour)).toISOString();
    const quoted = `'${description.replaceAll("'", "''")}'`;
    const fields = `name: ${name}\ndescription: ${quoted}\ntype: ${type}\ncreated: '${time}'\nupdated: '${time}'\n`;
    return [`memory/${name}.md`, `---\n${fields}---\n${body}`];
  });
  return { "memory/MEMORY.md": lines.join(""), ...Object.fromEntries(files) };
}

async function call<T>(name: string, input: object): Promise<T> {
  const result = await served.client.callTool({ name, arguments: { ...input } });
  if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
  return result.structuredContent as T;
}

test("there are 500 entries, and each question has its answer in one of them", () => {
  expect([entries.length, new Set(entries.map(({ name }) => name.toLowerCase())).size]).toEqual([500, 500]);
  for (const { name, fact } of questions) {
    expect(entries.filter(({ body }) => body.includes(fact)).map((entry) => entry.name)).toEqual([name]);
  }
});

test("the tools' descriptions show which one finds entries, and it needs no field", async () => {
  const { tools } = await served.client.listTools();
  const finding = tools.filter(({ description = "" }) => /\b(find|search)/i.test(firstParagraph(description)));
  expect(finding.map(({ name }) => name)).toContain("SearchUserMemory");
  const { inputSchema } = tools.find(({ name }) => name === "SearchUserMemory") ?? {};
  expect(Object.keys(inputSchema?.properties ?? {}).toSorted()).toEqual(["cursor", "query", "type"]);
  expect(inputSchema?.required ?? []).toEqual([]);
});

const firstParagraph = (description: string): string => description.replace(/^# .*\n+/, "").split("\n\n")[0] ?? "";

test(`the right entry is among the first ${hitsRead} hits for ${foundMin} of ${questions.length} questions`, async () => {
  const lines: string[] = [];
  let found = 0;
  for (const { query, type, name, fact } of questions) {
    const page = await call<Page>("SearchUserMemory", { query, ...(type && { type }) });
    if (type) expect(page.entries.map((hit) => hit.type)).toEqual(page.entries.map(() => type));
    const rank = page.entries.findIndex((hit) => hit.name === name) + 1;
    const isFound = rank > 0 && rank <= hitsRead;
    if (isFound) {
      const { body } = await call<{ body: string }>("ReadUserMemory", { name });
      expect(body).toContain(fact);
      found++;
    }
    lines.push(`${isFound ? "found" : "MISSED"}, rank ${rank || "none"}: ${query} (${name})`);
  }
  expect(found, lines.join("\n")).toBeGreaterThanOrEqual(foundMin);
});
