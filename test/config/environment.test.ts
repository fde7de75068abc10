/** An unknown memcell variable is an error, because what it should switch on would stay off. */
import { expect, test } from "vitest";

import { mistakeOf, settingsOf } from "./settings-of.ts";

test.for([
  { variable: "MEMCELL_AUDITLOG", nearest: "MEMCELL_AUDIT_LOG" },
  { variable: "MEMCELL_AUDIT_LOGS", nearest: "MEMCELL_AUDIT_LOG" },
  { variable: "memcell_audit_log", nearest: "MEMCELL_AUDIT_LOG" },
  { variable: "Memcell_Policy", nearest: "MEMCELL_POLICY" },
  { variable: "MEMCELL_PLUGIN", nearest: "MEMCELL_PLUGINS" },
  { variable: "MEMCELL_CONF", nearest: "MEMCELL_CONFIG" },
  { variable: "MEMCELL_SERVE_AUTH_ISUER", nearest: "MEMCELL_SERVE_AUTH_ISSUER" },
  { variable: "MEMCELL_USER", nearest: "MEMCELL_SERVE_USER" },
  { variable: "MEMCELL_", nearest: "MEMCELL_DATA" },
])("refuses $variable and suggests $nearest", async ({ variable, nearest }) => {
  const says = `the environment has "${variable}": unknown setting; did you mean ${nearest}?`;
  expect(await mistakeOf([], { [variable]: "x" })).toBe(says);
  expect(await mistakeOf([], { [variable]: "" })).toBe(says);
});

test("shows a variable's name escaped and shortened", async () => {
  const mistake = await mistakeOf([], { [`MEMCELL_\u001b[2J${"x".repeat(100_000)}`]: "1" });
  expect(mistake).toContain('"MEMCELL_\\u001b[2Jx');
  expect(mistake.length).toBeLessThan(200);
});

test("ignores other variables", async () => {
  const { values } = await settingsOf([], { DATA: "x", PORT: "1", XMEMCELL_DATA: "x", MEMCELLS: "x" });
  expect(values).toMatchObject({ data: "data", "serve.port": 7391 });
});
