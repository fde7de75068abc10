/** The decisions in every `RATIONALE.md`: their form, references to them, and their figures. */
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { headBytes } from "../../host/audit/log/log-end.ts";
import { httpLimits } from "../../host/serve/http/http-limits.ts";
import { mcpLimits } from "../../host/serve/mcp/mcp-limits.ts";
import { walLimits } from "../../host/store/files/commit/wal-limits.ts";
import { auditLimits } from "../../shared/audit-limits.ts";
import { guestLimits, promptLimits, queueLimits, storeLimits, threadLimits } from "../../shared/limits.ts";
import { transferLimits } from "../stage/archive.ts";
import { numbersIn, questionsIn, sizesIn } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

const rationales = trackedFiles.filter((file) => /(^|\/)RATIONALE\.md$/.test(file));

test.each(rationales)("%s: at least two decisions, each below a question", (file) => {
  const [first = ""] = textOf(file).split("\n");
  expect(first).toMatch(/^# [a-z]/);
  const questions = questionsIn(textOf(file));
  expect(questions.length).toBeGreaterThanOrEqual(2);
  expect(questions.filter((question) => !/^Why .*\?$/.test(question))).toEqual([]);
});

test("no question is answered twice", () => {
  const questions = rationales.flatMap((file) => questionsIn(textOf(file)));
  expect(questions.length).toBeGreaterThan(0);
  expect(questions.filter((question, at) => questions.indexOf(question) !== at)).toEqual([]);
});

/** A path to a `RATIONALE.md`, and the question behind it in quotation marks, if there is one. */
const reference = /([\w.-]+(?:\/[\w.-]+)*\/)?RATIONALE\.md(?:`|\))?(?:,? "(Why [^"]*)")?/g;

interface Reference {
  readonly path: string;
  readonly question: string | undefined;
}

/** References in a comment or a document. A bare name means the folder's own file in code, and no certain file in prose. */
function referencesIn(file: string, text: string): Reference[] {
  const prose = text.replaceAll(/\n\s*(?:\*|\/\/|#|;;)?\s*/g, " ");
  const references = Array.from(prose.matchAll(reference), ([, folder = "", question]) => ({ folder, question }));
  return references
    .filter(({ folder }) => folder !== "" || !file.endsWith(".md"))
    .map(({ folder, question }) => ({ path: `${folder}RATIONALE.md`, question }));
}

const isRight = (file: string, { path, question }: Reference): boolean => {
  const target = [path, join(dirname(file), path)].find((each) => rationales.includes(each));
  return target !== undefined && (question === undefined || questionsIn(textOf(target)).includes(question));
};

const wrongIn = (file: string, text: string): Reference[] =>
  referencesIn(file, text).filter((each) => !isRight(file, each));

/** This file has wrong references on purpose, and the history tells of files that are gone. */
const exempt = new Set(["test/documents/rationale.test.ts", "CHANGELOG.md"]);
const speaking = trackedFiles.filter((file) => /\.(?:ts|md|wat|yml|go|py|rs|java)$/.test(file) && !exempt.has(file));

test("every reference to a decision names a file and a question that exist", () => {
  const wrong = speaking.flatMap((file) =>
    wrongIn(file, textOf(file)).map(({ path, question }) => ({ file, path, question })),
  );
  expect(wrong).toEqual([]);
});

describe("a reference", () => {
  const file = "host/guest/grant.ts";
  test.each([
    "// `host/guest/RATIONALE.md`",
    "// RATIONALE.md says why.",
    '// (`host/guest/RATIONALE.md`, "Why @extism/extism 1.0.3?")',
    '/**\n * See `host/guest/RATIONALE.md`, "Why is an instance restored,\n * and not created for each call?"\n */',
  ])("is right: %s", (text) => {
    expect(referencesIn(file, text)).toHaveLength(1);
    expect(wrongIn(file, text)).toEqual([]);
  });
  test.each([
    "// `host/RATIONALE.md`",
    '// `host/guest/RATIONALE.md`, "Why is nothing restored?"',
    '// `host/store/RATIONALE.md`, "Why @extism/extism 1.0.3?"',
  ])("is wrong: %s", (text) => {
    expect(wrongIn(file, text)).toHaveLength(1);
  });
});

/** Limits of the code that decisions name. */
const figures: Readonly<Record<string, readonly number[]>> = {
  "host/audit": [
    auditLimits.refusalsShownPerMinute,
    auditLimits.refusalKindsMax + 1,
    headBytes({ seq: 0, hash: "0".repeat(64) }).length,
  ],
  "host/call": [queueLimits.callsPerUserMax, queueLimits.callsMax],
  "host/plugins": [guestLimits.memoryPagesMax],
  "host/runtime": [promptLimits.linesMax, promptLimits.bytesMax],
  "host/serve": [httpLimits.badTokensPerMinute, mcpLimits.requestsInFlightMax],
  "host/store": [walLimits.retireRecords, walLimits.retireFiles],
  "host/thread": [threadLimits.lingerMs],
};

test.each(Object.entries(figures))("%s: its limits are those of the code", (folder, limits) => {
  const numbers = numbersIn(textOf(`${folder}/RATIONALE.md`));
  expect(limits.filter((limit) => !numbers.includes(limit))).toEqual([]);
});

const sizes: Readonly<Record<string, readonly number[]>> = {
  "host/archive": [storeLimits.fileBytesMax, storeLimits.scopeBytesMax, transferLimits.exportBytesMax],
  "host/serve": [httpLimits.streamBytesMax],
  "host/store": [walLimits.retireBytes],
};

test.each(Object.entries(sizes))("%s: its sizes are those of the code", (folder, limits) => {
  const named = sizesIn(textOf(`${folder}/RATIONALE.md`));
  expect(limits.filter((limit) => !named.includes(limit))).toEqual([]);
});

test.each([
  ["host/guest", "@extism/extism"],
  ["host/thread", "piscina"],
])("%s: a decision about %s is about the version in use", (folder, name) => {
  const { dependencies } = JSON.parse(textOf("package.json")) as { dependencies: Record<string, string> };
  expect(textOf(`${folder}/RATIONALE.md`)).toContain(`${name} ${dependencies[name]}`);
});
