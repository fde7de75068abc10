/** Guests that make a denied request and report success: the call fails with the denial, and keeps no change. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { readUserFiles, userFolder } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";
import { expectServed, openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";

const tools = { Write: "write", WriteUnasked: "write_unasked", WriteTwice: "write_twice" };
const rights = { Write: ["write"], WriteUnasked: ["read"], WriteTwice: ["write"] } as const;
const before = { "memory/a.md": "truth" };

let stage: GuestStage;
beforeAll(async () => {
  stage = await openGuestStage((folder) => [writeGuest(folder, "liar", tools, rights)]);
});
beforeEach(() => {
  const file = join(userFolder(stage.dataDir, "alice"), "memory/a.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "truth");
});
afterAll(() => stage.close());

test.for([
  { name: "writes with the right to read", tool: "WriteUnasked", reason: /not granted "write"/ },
  { name: "writes inside its scope, outside it, and inside again", tool: "WriteTwice", reason: /Cannot use path/ },
])("a guest that $name and reports success is CAPABILITY_DENIED", async ({ tool, reason }) => {
  for (let again = 0; again < 3; again++) {
    const result = await stage.misbehave(tool);
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
    expect(result).toMatchObject({ error: { message: expect.stringMatching(reason) } });
    expect(readUserFiles(stage.dataDir, "alice")).toEqual(before);
    await expectServed(stage.runtime, `${tool}-${again}`);
  }
});

test("control: the same module writes when the tool has the right", async () => {
  expect(await stage.misbehave("Write")).toMatchObject({ ok: true });
  expect(readUserFiles(stage.dataDir, "alice")).toEqual({ "memory/a.md": "lie" });
});
