/** The same programs as bundlers resolve, with the types of browsers, and without those of Node. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { packedConsumer } from "../types/packed-consumer.ts";

const consumer = packedConsumer();
afterAll(() => consumer[Symbol.dispose]());

test.for<readonly [how: string, options: Readonly<Record<string, unknown>>]>([
  ["as bundlers resolve", { module: "esnext", moduleResolution: "bundler", exactOptionalPropertyTypes: false }],
  ["with the types of browsers", { lib: ["es2023", "dom", "dom.iterable"] }],
])("every program compiles, and no wrong one does: %s", ([, options]) => {
  expect(consumer.compile(consumer.programs(), options)).toEqual({ status: 0, said: "" });
});

test("without Node's types, the types of a plugin's tools compile, and the compiler says what the runtime lacks", () => {
  const plain = `import type { MemoryInput } from "memcell/plugins/stores";
export const input: MemoryInput = { command: "stores" };
// @ts-expect-error There is no such command.
export const wrong: MemoryInput = { command: "append" };
`;
  writeFileSync(join(consumer.folder, "plain.ts"), plain);
  expect(consumer.compile(["plain.ts"], { types: [] })).toEqual({ status: 0, said: "" });
  expect(consumer.compile(["readme.ts"], { types: [] }).said).toContain("npm i --save-dev @types/node");
});
