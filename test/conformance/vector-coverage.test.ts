/**
 * The vectors together cover every error code, every message of a host, every capability and right, and every tool and
 * own code of the shipped plugins.
 */
import { readFileSync } from "node:fs";

import { parse as parseJsonc } from "jsonc-parser";
import { expect, test } from "vitest";

import { capabilityNames, capabilityRights } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { blocksIn, codeIn, tableUnder } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readVectors } from "./vector.ts";

const vectors = readVectors();
const calls = vectors.flatMap(({ vector }) => vector.calls);

interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Every refusal in the calls' results, including capability replies that guests pass on. */
const refusals = refusalsIn(calls.map(({ result }) => result));

function refusalsIn(value: unknown): Refusal[] {
  if (typeof value !== "object" || value === null) return [];
  const { code, message } = value as Record<string, unknown>;
  const own = typeof code === "string" && typeof message === "string" ? [{ code, message }] : [];
  return [...own, ...Object.values(value).flatMap(refusalsIn)];
}

const codesWithoutVector: Partial<Record<ErrorCode, string>> = {
  WRITE_PENDING: "a vector's calls name no origin",
  WRITE_REFUSED: "a vector's calls name no origin",
  BUSY: "a vector has no second process that holds the user's folder",
  READ_ONLY: "a vector's host may write",
  CLOSED: "a vector cannot close its host",
  CANCELLED: "a vector cannot cancel a call",
  PLUGIN_REFUSED: "a vector's plugin can be loaded",
  STORAGE_FULL: "a vector's disk has room",
  STORAGE_FAILED: "a vector's disk works",
  STORAGE_BUSY: "a vector's machine has enough open files",
  INTERNAL: "it needs a fault of the host",
};

test("every error code is covered by a vector or has a reason why none can", () => {
  // The plugin `answerer` only claims its codes.
  const provoking = vectors.filter(({ vector }) => vector.plugin !== "answerer");
  const results = provoking.flatMap(({ vector }) => vector.calls.map(({ result }) => result));
  const provoked = new Set(refusalsIn(results).map(({ code }) => code));
  const missing = errorCodes.filter((code) => !provoked.has(code));
  expect(missing).toEqual(Object.keys(codesWithoutVector));
});

const messagesWithoutVector: Readonly<Record<string, string>> = {
  "Cannot use the user's folder: it is in use": "like BUSY",
};

test("every message of a host is covered by a vector or has a reason why none can", () => {
  const rows = tableUnder(textOf("shared/README.md"), "### A host's own words");
  expect(rows.length).toBeGreaterThan(20);
  let code = "";
  const missing = rows.flatMap(([codeCell = "", words = ""]) => {
    code = codeIn(codeCell)[0] ?? code;
    const [message = ""] = codeIn(words);
    const pattern = patternOf(message);
    return refusals.some((each) => each.code === code && pattern.test(each.message)) ? [] : [message];
  });
  expect(missing).toEqual(Object.keys(messagesWithoutVector));
});

/** The pattern of a message in the table: capital words stand for any text, and `store_read` for any capability. */
function patternOf(message: string): RegExp {
  const escaped = message.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const loose = escaped
    .replaceAll(/"(?:TOOL|ID|SCOPE|PATH|PREFIX|OTHER)"/g, '".*"')
    .replaceAll(/\b(?:TOOL|CODE|N)\b/g, ".+")
    .replaceAll("A, B", ".+")
    .replaceAll('"A", "B"', '".+"')
    .replaceAll("store_read", `(?:${capabilityNames.join("|")})`)
    .replaceAll('not granted "read"', 'not granted "\\w+"');
  return new RegExp(`^${loose}$`, "u");
}

test("every capability succeeds in a vector, and is denied without its right", () => {
  const used = calls.flatMap(({ input, result }) => (result["ok"] === true ? asksIn(input) : []));
  const denied = refusals.flatMap(({ message }) => /^Cannot call (\w+): .* not granted "(\w+)"$/.exec(message) ?? []);
  for (const name of capabilityNames) {
    expect(used).toContain(name);
    expect(denied).toContain(`Cannot call ${name}: this call is not granted "${capabilityRights[name]}"`);
  }
});

function asksIn(input: unknown): string[] {
  return Array.isArray(input) ? input.map((step: { of?: string } | null) => step?.of ?? "") : [];
}

const lock = JSON.parse(textOf("build/plugins.lock.json")) as { plugins: Record<string, unknown> };

test.for(Object.keys(lock.plugins))(
  "every tool of %s succeeds in a vector, and every own code of the plugin is covered",
  (name) => {
    const manifest = manifestOf(readFileSync(shippedPlugin(name)));
    const own = vectors.filter(({ vector }) => (vector.plugin ?? "user-memory") === name);
    const results = own.flatMap(({ vector }) => vector.calls.map(({ tool, result }) => ({ tool, result })));
    const served = new Set(results.flatMap(({ tool, result }) => (result["ok"] === true ? [tool] : [])));
    expect(manifest.tools.map((tool) => tool.name).filter((tool) => !served.has(tool))).toEqual([]);
    const provoked = new Set(refusalsIn(results).map(({ code }) => code));
    expect((manifest.errors ?? []).map(({ code }) => code).filter((code) => !provoked.has(code))).toEqual([]);
  },
);

const fields = (of: readonly object[]): string[] => [...new Set(of.flatMap(Object.keys))].toSorted();

test("test/conformance/README.md shows every field of a vector, and no other", () => {
  const [shown = ""] = blocksIn(textOf("test/conformance/README.md")).map(({ text }) => text);
  const example = parseJsonc(shown) as { calls: object[] };
  expect(Object.keys(example).toSorted()).toEqual(fields(vectors.map(({ vector }) => vector)));
  const inComment = /and "(audience)": "host"/.exec(shown)?.slice(1) ?? [];
  expect([...fields(example.calls), ...inComment].toSorted()).toEqual(fields(calls));
});
