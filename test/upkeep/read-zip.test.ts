/**
 * A zip file can come from anyone. It is read in one way and within bounds, or refused with an error that names the
 * entry.
 */
import { expect, test } from "vitest";

import { readZip } from "../../host/archive/read-zip.ts";
import { ToolError } from "../../host/values/tool-error.ts";
import { asTexts } from "../support/memory-files.ts";
import { hostileZips, withFiles } from "./hostile-zips.ts";

const failureOf = async (bytes: Buffer): Promise<unknown> =>
  readZip(bytes).then(
    () => "it was read",
    (error) => error as unknown,
  );

test.for(hostileZips)("refuses %s", async ([, bytes, said]) => {
  const error = await failureOf(bytes);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(said) as string });
  expect((error as ToolError).message).toMatch(/^Cannot read the zip file: [^\p{C}\p{Zl}\p{Zp}]+$/u);
  expect((error as ToolError).message.length).toBeLessThan(300);
});

test("reads valid files, stored or deflated", async () => {
  const files = await readZip(
    withFiles([
      { name: "memory/MEMORY.md", content: "" },
      { name: "memory/a.md", content: "text".repeat(1000), method: 8 },
      { name: "memory/trash/x", content: Buffer.from([0xff]), attributes: (0o100644 << 16) >>> 0 },
    ]),
  );
  expect(asTexts(files)).toEqual({ "MEMORY.md": "", "a.md": "text".repeat(1000), "trash/x": "\u00ff" });
});

test("reads a memory that is full to the last byte; the export's label does not count", async () => {
  const content = Buffer.alloc(2 ** 21);
  const trash = Array.from({ length: 32 }, (_, at) => ({ name: `memory/trash/x${at}`, content, method: 8 }));
  expect(await readZip(withFiles(trash))).toHaveLength(32);
  const message = "Cannot read the zip file: its files are more than 67108864 bytes, which is the most allowed";
  expect(await failureOf(withFiles([...trash, { name: "memory/trash/y", content: "y" }]))).toMatchObject({ message });
});

test("refuses every truncated zip file, and notices every flipped byte that has a meaning", async () => {
  const whole = withFiles([{ name: "memory/a.md", content: "text", method: 8 }]);
  const expected = await readZip(whole);
  for (let length = 0; length < whole.length; length++) {
    expect(await failureOf(whole.subarray(0, length))).toBeInstanceOf(ToolError);
  }
  for (let at = 0; at < whole.length; at++) {
    const turned = Buffer.from(whole);
    turned[at] = (turned[at] ?? 0) ^ 0xff;
    const outcome = await readZip(turned).catch((error: unknown) => error);
    if (!(outcome instanceof ToolError)) expect(outcome).toEqual(expected);
  }
});
