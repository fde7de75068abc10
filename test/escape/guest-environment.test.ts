/** A guest's environment: the language, the PDK's globals, and nothing that leads out of the sandbox. */
import { afterAll, expect, test } from "vitest";

import { openPuppetStage } from "./puppet-stage.ts";

const stage = await openPuppetStage();
afterAll(() => stage[Symbol.asyncDispose]());

const absent = [
  ..."eval Function process require module fetch setTimeout queueMicrotask WebAssembly performance crypto".split(" "),
  ..."Http Var std os scriptArgs Buffer Math.random WeakRef SharedArrayBuffer __entryPoint __tool_puppet".split(" "),
  ...Array.from("ioesrnfculwtqDIWE", (letter) => `__native_${letter}`),
];

test.for(absent)("%s is not there", async (name) => {
  expect(await stage.play([{ typeOf: name }])).toMatchObject({ ok: true, data: ["undefined"] });
});

test("a function's constructor cannot compile text", async () => {
  const data = [["refused", "refused", "refused", "refused"]];
  expect(await stage.play([{ compile: "return 1" }])).toMatchObject({ ok: true, data });
});

test("time stands still at 1970 without the clock capability", async () => {
  expect(await stage.play([{ dateNow: true }])).toMatchObject({ ok: true, data: [0] });
});

test("the PDK's globals are there", async () => {
  const names = ["Host", "Memory", "Config", "console", "TextEncoder", "TextDecoder"];
  const result = await stage.play(names.map((name) => ({ typeOf: name })));
  expect(result).toMatchObject({ ok: true });
  expect(result.ok && result.data).not.toContain("undefined");
});

test("configuration has no keys, not even those of a prototype", async () => {
  const names = ["constructor", "__proto__", "toString", "PATH", "userId"];
  const result = await stage.play(names.map((config) => ({ config })));
  expect(result).toMatchObject({ ok: true, data: names.map(() => null) });
});

test("TextEncoder and TextDecoder work as in Node", async () => {
  for (const text of ["", "abc", "日本語 😀 é", "\ud800 lone"]) {
    const bytes = [...new TextEncoder().encode(text)];
    const decoded = new TextDecoder().decode(Uint8Array.from(bytes));
    expect(await stage.play([{ encode: text }])).toMatchObject({ ok: true, data: [{ bytes, text: decoded }] });
  }
});
