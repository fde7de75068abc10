/** A guest's environment: the language, the PDK's globals, and nothing that leads out of the sandbox. */
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  const plugins = [testPlugin("puppet")];
  runtime = await createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins), threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const absent = [
  "eval",
  "Function",
  "process",
  "require",
  "module",
  "fetch",
  "setTimeout",
  "queueMicrotask",
  "WebAssembly",
  "performance",
  "crypto",
  "Http",
  "Var",
  "std",
  "os",
  "scriptArgs",
  "Buffer",
  "Math.random",
  "WeakRef",
  "SharedArrayBuffer",
  "__entryPoint",
  "__tool_puppet",
  ..."ioesrnfculwtqDIWE".split("").map((letter) => `__native_${letter}`),
];

test.for(absent.map((name) => ({ name })))("$name is not there", async ({ name }) => {
  const result = await runtime.call("Puppet", [{ typeOf: name }], { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: ["undefined"] });
});

test("a function's constructor cannot compile text", async () => {
  const result = await runtime.call("Puppet", [{ compile: "return 1" }], { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: [["refused", "refused", "refused", "refused"]] });
});

test("time stands still at 1970 without the clock capability", async () => {
  const result = await runtime.call("Puppet", [{ dateNow: true }], { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: [0] });
});

test("the PDK's globals are there", async () => {
  const names = ["Host", "Memory", "Config", "console", "TextEncoder", "TextDecoder"];
  const result = await runtime.call(
    "Puppet",
    names.map((name) => ({ typeOf: name })),
    { userId: "alice" },
  );
  expect(result).toMatchObject({ ok: true });
  expect(result.ok && result.data).not.toContain("undefined");
});

test("configuration has no keys, not even those of a prototype", async () => {
  const names = ["constructor", "__proto__", "toString", "PATH", "userId"];
  const result = await runtime.call(
    "Puppet",
    names.map((config) => ({ config })),
    { userId: "alice" },
  );
  expect(result).toMatchObject({ ok: true, data: names.map(() => null) });
});

test("TextEncoder and TextDecoder work as in Node", async () => {
  for (const text of ["", "abc", "日本語 😀 é", "\ud800 lone"]) {
    const bytes = [...new TextEncoder().encode(text)];
    const result = await runtime.call("Puppet", [{ encode: text }], { userId: "alice" });
    expect(result).toMatchObject({
      ok: true,
      data: [{ bytes, text: new TextDecoder().decode(Uint8Array.from(bytes)) }],
    });
  }
});
