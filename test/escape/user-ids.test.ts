/**
 * Hostile texts as `ctx.userId`: refused, or the id of a user without memory. In both cases no folder is created, and
 * no other user's is opened.
 */
import { afterAll, expect, test } from "vitest";

import { openConfinementStage } from "./confinement-stage.ts";
import { hostileTexts, notTexts, titleOf } from "./hostile-texts.ts";

const stage = await openConfinementStage();
afterAll(() => stage.close());

const upsert = { action: "upsert", name: "x", type: "user", description: "taken over", body: "taken over" };
/** All texts except Bob's id: Bob has a memory. */
const strangers = hostileTexts.filter(({ text }) => text !== "bob");

async function indexOf(userId: unknown): Promise<string> {
  try {
    return await stage.runtime.memoryIndex({ userId: userId as string });
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test.for(strangers.map(({ text, user }) => ({ text, user, title: titleOf(text) })))(
  "the user id $title",
  async ({ text, user }) => {
    const ctx = { userId: text };
    const code = user === "fits" ? "ENTRY_NOT_FOUND" : user;
    stage.expectCode(await stage.runtime.call("ReadUserMemory", { name: "x" }, ctx), code);
    stage.expectCode(await stage.runtime.call("UpdateUserMemory", { action: "delete", name: "x" }, ctx), code);
    if (user !== "fits") stage.expectCode(await stage.runtime.call("UpdateUserMemory", upsert, ctx), code);
    expect(await indexOf(text)).toBe(user === "fits" ? "" : user);
    stage.expectUntouched();
  },
);

test.for(notTexts.map((value) => ({ value, title: titleOf(value) })))("the user id $title", async ({ value }) => {
  const code = value === null ? "USER_REQUIRED" : "USER_INVALID";
  const ctx = { userId: value as string };
  stage.expectCode(await stage.runtime.call("ReadUserMemory", { name: "x" }, ctx), code);
  stage.expectCode(await stage.runtime.call("UpdateUserMemory", upsert, ctx), code);
  expect(await indexOf(value)).toBe(code);
  stage.expectUntouched();
});

test("an id that is a prefix, a suffix, or another case of a user's id is another user", async () => {
  for (const userId of ["bo", "bobb", "ob", "Bob", "BOB", "bob_", "alice@", "alic"]) {
    stage.expectCode(await stage.runtime.call("ReadUserMemory", { name: "x" }, { userId }), "ENTRY_NOT_FOUND");
  }
  stage.expectUntouched();
});
