/** The types of a plugin's tools for programs: they follow from its manifest, and the compiler enforces them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { typeDeclarations } from "../../build/type-declarations.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

const program = `
import type { MemoryReadOutput, MemorySearchInput, MemoryWriteInput } from "memcell/plugins/journal";
import type { ReadUserMemoryInput, ReadUserMemoryOutput } from "memcell/plugins/user-memory";
import type { UpdateUserMemoryInput, UpdateUserMemoryOutput } from "memcell/plugins/user-memory";

export const upsert: UpdateUserMemoryInput = { action: "upsert", name: "a", type: "user", description: "d", body: "" };
export const remove: UpdateUserMemoryInput = { action: "delete", name: "a" };
export const read: ReadUserMemoryInput = { name: "a" };
export const written: MemoryWriteInput = { key: "a", content: "", tags: null, target: "summary" };
export const search: MemorySearchInput = { query: "", limit: 5 };
export const outcome = (output: UpdateUserMemoryOutput): "created" | "replaced" | "deleted" => output.outcome;
export const created = (output: ReadUserMemoryOutput): string | null => output.created;
export const tags = (output: MemoryReadOutput): string[] => output.data.tags;

// @ts-expect-error No such action.
export const wrongAction: UpdateUserMemoryInput = { action: "read", name: "a" };
// @ts-expect-error Every entry has a name.
export const nameless: ReadUserMemoryInput = {};
// @ts-expect-error No field names a user.
export const ofOther: ReadUserMemoryInput = { name: "a", userId: "bob" };
// @ts-expect-error A key is a text.
export const numbered: MemoryWriteInput = { key: 1, content: "" };
`;

test("a program gets the types of each plugin's tools from the package", { timeout: 60_000 }, () => {
  // Inside the package's folder, so that Node resolves its name, but outside the folders with sources.
  const folder = mkdtempSync(join(projectFolder, "dist", "typed-program-"));
  try {
    writeFileSync(join(folder, "program.ts"), program);
    const options = { strict: true, noEmit: true, module: "nodenext", types: [], skipLibCheck: false };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
    const compiler = join(projectFolder, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("each form of a schema becomes a type, and tools for hosts have no types", () => {
  const text = { type: "string", description: "Ends here */ or not" };
  const input = {
    type: "object",
    properties: {
      text,
      "two words": { type: ["integer", "null"] },
      list: { type: "array", items: { enum: ["a", 1] } },
      either: { anyOf: [{ type: "boolean" }, { const: "x" }] },
      deep: { type: "object", properties: { a: {} }, required: ["a"] },
      map: { type: "object", additionalProperties: { type: "number" } },
      none: { type: "object", additionalProperties: false },
    },
    required: ["text"],
  };
  const rest = { description: "", output: {}, scopes: [], rights: [], input };
  const tools = [
    { ...rest, name: "do_it", export: "do_it", audience: "model" as const },
    { ...rest, name: "Inner", export: "inner", audience: "host" as const },
  ];
  const declared = typeDeclarations({ name: "some", tools });
  expect(declared).toContain(`export type DoItInput = {
  /** Ends here * / or not */
  text: string;
  "two words"?: number | null;
  list?: Array<"a" | 1>;
  either?: boolean | "x";
  deep?: {
    a: unknown;
  };
  map?: Record<string, number>;
  none?: Record<string, never>;
};`);
  expect(declared).toContain("export type DoItOutput = unknown;");
  expect(declared).not.toContain("Inner");
});

test("tools with similar names have separate types, and an undescribed required field is included", () => {
  const rest = { description: "", output: {}, scopes: [], rights: [], audience: "model" as const };
  const input = { type: "object", required: ["id"] };
  const tools = [
    { ...rest, name: "note_add", export: "note_add", input },
    { ...rest, name: "NoteAdd", export: "note_add2", input: {} },
  ];
  const declared = typeDeclarations({ name: "some", tools });
  expect(declared).toContain("export type note_addInput = {\n  id: unknown;\n};");
  expect(declared).toContain("export type NoteAddInput = unknown;");
});
