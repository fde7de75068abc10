/** The lock file: always the same text for the same plugins, a strict form, and one sentence for each difference. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { lockDifferences, lockText, parseLock } from "../../shared/plugin-lock.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";

const one = { version: "1.0.0", sha256: "1".repeat(64), bytes: 10 };
const two = { version: "1.0.0", sha256: "2".repeat(64), bytes: 10 };
const committed = readFileSync(new URL("../../build/plugins.lock.json", import.meta.url), "utf8");

test("the committed lock names the present plugins", () => {
  const there = shippedNames().map((name) => {
    const wasm = readFileSync(shippedPlugin(name));
    const sha256 = readFileSync(`${shippedPlugin(name)}.sha256`, "utf8").slice(0, 64);
    return [name, { version: manifestOf(wasm).version, sha256, bytes: wasm.length }];
  });
  expect(there.length).toBeGreaterThan(1);
  expect(parseLock(committed)).toEqual(Object.fromEntries(there));
});

test("the order of the plugins and their fields does not change the text", () => {
  expect(lockText({ b: two, a: { bytes: 10, sha256: one.sha256, version: "1.0.0" } })).toBe(
    lockText({ a: one, b: two }),
  );
  expect(parseLock(lockText({ a: one, b: two }))).toEqual({ a: one, b: two });
});

const differences = [
  { name: "equal", built: { a: one }, locked: { a: one }, says: [] },
  { name: "hash", built: { a: one }, locked: { a: two }, says: [/"a".*SHA-256 1{64}.*locked SHA-256 2{64}/] },
  { name: "version", built: { a: one }, locked: { a: { ...one, version: "2.0.0" } }, says: [/version 2\.0\.0/] },
  { name: "another size", built: { a: one }, locked: { a: { ...one, bytes: 11 } }, says: [/11 bytes/] },
  { name: "not locked", built: { a: one, b: two }, locked: { a: one }, says: [/"b".*locked none/] },
  { name: "not built", built: { a: one }, locked: { a: one, b: two }, says: [/"b".*built none/] },
];

test.for(differences)("the difference between built and locked is reported: $name", ({ built, locked, says }) => {
  const found = lockDifferences(built, locked);
  expect(found).toEqual(says.map((pattern) => expect.stringMatching(pattern)));
});

const wrongTexts = [
  { name: "not JSON", text: "{" },
  { name: "of another version", text: committed.replace('"version": 1', '"version": 2') },
  { name: "with a hash in capitals", text: lockText({ a: { ...one, sha256: "A".repeat(64) } }) },
  { name: "with an invalid version", text: lockText({ a: { ...one, version: "1" } }) },
  { name: "with a name that is a path", text: lockText({ "../a": one }) },
  { name: "with an extra key", text: committed.replace('"version": 1', '"version": 1, "more": 1') },
  { name: "too deep", text: "[".repeat(100_000) },
];

test.for(wrongTexts)("a lock that is $name is refused", ({ text }) => {
  expect(parseLock(text)).toBe(null);
});
