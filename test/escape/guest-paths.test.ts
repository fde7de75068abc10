/**
 * A hostile guest sends paths, scopes and prefixes to every capability. One that does not fit the grammar is denied
 * before any disk access, and the denial ends the call without effect.
 */
import { afterAll, expect, test } from "vitest";

import { openConfinementStage } from "./confinement-stage.ts";
import { hostileTexts, notTexts, titleOf } from "./hostile-texts.ts";

const stage = await openConfinementStage();
afterAll(() => stage.close());

const denied = "CAPABILITY_DENIED";
const titled = hostileTexts.map((row) => Object.assign({ title: titleOf(row.text) }, row));
const nothingThere = ['{"ok":true,"content":null}'];

test.for(titled)("the path $title is answered with its code", async ({ text, path }) => {
  const request = { scope: "memory", path: text };
  const read = await stage.ask("store_read", request);
  stage.expectCode(read, path === "denied" ? denied : "ok");
  if (read.ok) expect(read.data).toEqual(nothingThere);
  else {
    stage.expectCode(await stage.ask("store_write", { ...request, content: "taken over" }), denied);
  }
  stage.expectCode(await stage.ask("store_trash", request), denied);
  stage.expectUntouched();
});

test.for(titled)("the prefix $title is denied, or lists nothing of others", async ({ text, prefix }) => {
  const list = await stage.ask("store_list", { scope: "memory", prefix: text });
  stage.expectCode(list, prefix === "denied" ? denied : "ok");
  if (list.ok) expect((list.data as string[])[0]).not.toMatch(/bob|"x\.md"|owner|journal/);
  stage.expectUntouched();
});

test.for(titled.filter(({ text }) => text !== "memory"))("the scope $title is denied", async ({ text }) => {
  const scope = { scope: text };
  stage.expectCode(await stage.ask("store_read", { ...scope, path: "x.md" }), denied);
  stage.expectCode(await stage.ask("store_list", { ...scope, prefix: "" }), denied);
  stage.expectCode(await stage.ask("store_write", { ...scope, path: "x.md", content: "taken over" }), denied);
  stage.expectCode(await stage.ask("store_trash", { ...scope, path: "x.md" }), denied);
  stage.expectUntouched();
});

test.for(notTexts.map((value) => ({ value, title: titleOf(value) })))(
  "$title is denied as path, prefix, scope and content",
  async ({ value }) => {
    for (const of of ["store_read", "store_trash"]) {
      stage.expectCode(await stage.ask(of, { scope: "memory", path: value }), denied);
      stage.expectCode(await stage.ask(of, { scope: value, path: "x.md" }), denied);
    }
    stage.expectCode(await stage.ask("store_list", { scope: "memory", prefix: value }), denied);
    stage.expectCode(await stage.ask("store_list", { scope: value }), denied);
    stage.expectCode(await stage.ask("store_write", { scope: "memory", path: "y.md", content: value }), denied);
    stage.expectCode(await stage.ask("clock_now", { userId: value }), denied);
    stage.expectUntouched();
  },
);

test.for(
  ["trash", "trash/", "trash/y.md", "Trash/y.md", "TRASH/y.md", "tRaSh", "trash/old.md"].map((path) => ({ path })),
)("a guest cannot write or move $path", async ({ path }) => {
  stage.expectCode(await stage.ask("store_write", { scope: "memory", path, content: "x" }), denied);
  stage.expectCode(await stage.ask("store_trash", { scope: "memory", path }), denied);
  stage.expectUntouched();
});

test("control: files inside are read and listed, and the clock answers", async () => {
  const read = await stage.ask("store_read", { scope: "memory", path: "x.md" });
  expect(read.ok && (read.data as string[])[0]).toContain("of alice");
  const list = await stage.ask("store_list", { scope: "memory", prefix: "" });
  expect(list.ok && (list.data as string[])[0]).toContain('"MEMORY.md"');
  expect(await stage.ask("clock_now", {})).toMatchObject({ ok: true, data: [expect.stringContaining("epochMs")] });
  stage.expectUntouched();
});
