/** A hostile plugin against the capability boundary: a request beyond its grant ends the call without effect. */
import { afterAll, expect, test } from "vitest";

import { ask, memory, openPuppetStage } from "./puppet-stage.ts";

const stage = await openPuppetStage();
afterAll(() => stage.close());

const outside = [
  "../../bob/memory/a.md",
  "../a.md",
  "..",
  ".",
  "",
  "/",
  "/etc/passwd",
  "a.md/",
  "a.md/.",
  "a.md/..",
  "./a.md",
  "x/../a.md",
  "x//a.md",
  ".memcell/owner",
  "../.memcell/owner",
  ".hidden",
  "a\\b",
  "..\\a.md",
  "C:\\a.md",
  "a.md\u0000",
  "a\u0000/../b",
  "%2e%2e/a.md",
  "%2e%2e%2fa.md",
  "a b.md",
  "é.md",
  "．．/a.md",
  "a\nb.md",
  "a.md ",
  `${"d/".repeat(200)}a.md`,
  "a".repeat(300),
];

for (const capability of ["store_read", "store_write", "store_trash"]) {
  test.for(outside.map((path) => ({ path })))(`${capability} refuses the path $path`, async ({ path }) => {
    const request = memory(path, capability === "store_write" ? "taken over" : undefined);
    stage.expectDenied(await stage.play([ask(capability, request)]));
    stage.expectUntouched();
  });
}

test.for(["../", "..", "/", "../../bob/", ".memcell", "x//", "a\u0000", " "].map((prefix) => ({ prefix })))(
  "store_list refuses the prefix $prefix",
  async ({ prefix }) => {
    stage.expectDenied(await stage.play([ask("store_list", { scope: "memory", prefix })]));
  },
);

test.for(
  ["../bob/memory", "bob", ".memcell", "", "journal", "MEMORY", "memory/", "__proto__"].map((scope) => ({ scope })),
)("no capability opens the scope $scope", async ({ scope }) => {
  for (const [of, rest] of [
    ["store_read", { path: "a.md" }],
    ["store_list", {}],
    ["store_write", { path: "a.md", content: "x" }],
    ["store_trash", { path: "a.md" }],
  ] as const) {
    stage.expectDenied(await stage.play([ask(of, { scope, ...rest })]));
  }
  stage.expectUntouched();
});

test.for([
  { name: "write", step: ask("store_write", memory("b.md", "x")) },
  { name: "trash", step: ask("store_trash", memory("a.md")) },
  { name: "list", step: ask("store_list", { scope: "memory" }) },
  { name: "clock", step: ask("clock_now", {}) },
])("a tool without the right to $name cannot do it, although its plugin imports the capability", async ({ step }) => {
  stage.expectDenied(await stage.play([step], "ReadingPuppet"));
  stage.expectUntouched();
});

test("a denial drops the writes before it and the success reported after it", async () => {
  const steps = [
    ask("store_write", memory("b.md", "x")),
    ask("store_read", memory("../x")),
    ask("store_write", memory("c.md", "x")),
  ];
  stage.expectDenied(await stage.play(steps));
  stage.expectUntouched();
});

test("a failure drops the writes before it", async () => {
  const failure = JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  const steps = [ask("store_write", memory("b.md", "x")), ask("store_trash", memory("a.md")), { fail: failure }];
  const result = await stage.play(steps);
  expect(result).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  stage.expectUntouched();
});

test.for([
  { name: "no JSON", step: { of: "store_read", request: "{" } },
  { name: "nothing", step: { of: "store_read", request: "" } },
  { name: "an array", step: ask("store_read", []) },
  { name: "a missing field", step: ask("store_read", { scope: "memory" }) },
  { name: "an unknown field", step: ask("store_read", { ...memory("a.md"), userId: "bob" }) },
  { name: "a path that is not a string", step: ask("store_read", { scope: "memory", path: ["a.md"] }) },
  { name: "a lone surrogate", step: ask("store_write", memory("b.md", "\ud800")) },
  { name: "handle 0", step: { of: "store_read", handle: 0 } },
  { name: "a handle that names no block", step: { of: "store_read", handle: 2 ** 50 } },
  { name: "a negative handle", step: { of: "store_read", handle: -1 } },
])("a capability refuses $name as its request", async ({ step }) => {
  stage.expectDenied(await stage.play([step]));
  stage.expectUntouched();
});
