/** Hostile texts as an entry's `name`, which a model chooses: refused with a code, and no file is touched. */
import { afterAll, test } from "vitest";

import { openConfinementStage } from "./confinement-stage.ts";
import { hostileTexts, notTexts, titleOf } from "./hostile-texts.ts";

const stage = await openConfinementStage();
afterAll(() => stage.close());

const ctx = { userId: "alice" };
const upsert = { action: "upsert", type: "user", description: "taken over", body: "taken over" };

test.for(hostileTexts.map(({ text, name }) => ({ text, code: name, title: titleOf(text) })))(
  "the name $title is $code",
  async ({ text, code }) => {
    stage.expectCode(await stage.runtime.call("ReadUserMemory", { name: text }, ctx), code);
    stage.expectCode(await stage.runtime.call("UpdateUserMemory", { action: "delete", name: text }, ctx), code);
    if (code !== "ENTRY_NOT_FOUND") {
      stage.expectCode(await stage.runtime.call("UpdateUserMemory", { ...upsert, name: text }, ctx), code);
    }
    stage.expectUntouched();
  },
);

test.for(notTexts.map((value) => ({ value, title: titleOf(value) })))("the name $title fails", async ({ value }) => {
  stage.expectCode(await stage.runtime.call("ReadUserMemory", { name: value }, ctx), "INPUT_INVALID");
  stage.expectCode(
    await stage.runtime.call("UpdateUserMemory", { action: "delete", name: value }, ctx),
    "INPUT_INVALID",
  );
  stage.expectCode(await stage.runtime.call("UpdateUserMemory", { ...upsert, name: value }, ctx), "INPUT_INVALID");
  stage.expectUntouched();
});

test.for(["userId", "user", "ctx", "scope", "path", "dataDir", "__proto__", "constructor"].map((key) => ({ key })))(
  "a field $key beside the name is refused and does not change the user",
  async ({ key }) => {
    const input = JSON.parse(`{"name":"x","${key}":"bob"}`) as object;
    stage.expectCode(await stage.runtime.call("ReadUserMemory", input, ctx), "INPUT_INVALID");
    stage.expectUntouched();
  },
);
