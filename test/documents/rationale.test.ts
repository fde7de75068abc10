/** The decisions in every `RATIONALE.md`: their form, references to them, and their figures. */
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { auditLimits } from "../../shared/audit-limits.ts";
import { guestLimits, promptLimits, queueLimits, storeLimits, threadLimits } from "../../shared/limits.ts";
import { numbersIn, questionsIn, sizesIn } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

const rationales = trackedFiles.filter((file) => /(^|\/)RATIONALE\.md$/.test(file));

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

test("a wrong reference is found", () => {
  const [file, guest] = ["host/guest/grant.ts", "host/guest/RATIONALE.md"];
  const right = `/**\n * See \`${guest}\`, "Why is an instance restored,\n * and not created for each call?"\n */`;
  expect([referencesIn(file, right).length, wrongIn(file, right)]).toEqual([1, []]);
  const inOther = '// `host/store/RATIONALE.md`, "Why @extism/extism 1.0.3?"';
  for (const text of ["// `host/RATIONALE.md`", `// \`${guest}\`, "Why is nothing restored?"`, inOther])
    expect(wrongIn(file, text)).toHaveLength(1);
});

const units: Readonly<Record<string, number>> = { kib: 1024, mib: 1024 * 1024 };

/** A limit as a file of the host writes it. */
function written(file: string, name: string): number {
  const [, factors = ""] = new RegExp(`\\b${name}: ([\\w* ]+),`).exec(textOf(`host/${file}`)) ?? [];
  const values = factors.split(" * ").map((factor) => units[factor] ?? Number(factor.replaceAll("_", "")));
  return values.reduce((product, value) => product * value, 1);
}

const journal = "store/files/journal/format.ts";

/** Limits of the code that decisions name. */
const figures: Readonly<Record<string, readonly number[]>> = {
  "host/audit": [auditLimits.refusalsShownPerMinute, auditLimits.refusalKindsMax + 1],
  "host/call": [queueLimits.callsPerUserMax, queueLimits.callsMax],
  "host/plugins": [guestLimits.memoryPagesMax],
  "host/runtime": [promptLimits.linesMax, promptLimits.bytesMax],
  "host/serve": [
    written("serve/http/http-limits.ts", "badTokensPerMinute"),
    written("serve/mcp/mcp-limits.ts", "requestsInFlightMax"),
  ],
  "host/store": ["settleFrames", "settleFiles"].map((name) => written(journal, name)),
  "host/thread": [threadLimits.lingerMs],
};

test.each(Object.entries(figures))("%s: its limits are those of the code", (folder, limits) => {
  const numbers = numbersIn(textOf(`${folder}/RATIONALE.md`));
  expect(limits.filter((limit) => !numbers.includes(limit))).toEqual([]);
});

const sizes: Readonly<Record<string, readonly number[]>> = {
  "host/archive": [storeLimits.fileBytesMax, storeLimits.scopeBytesMax],
  "host/serve": [written("serve/http/http-limits.ts", "streamBytesMax")],
  "host/store": [written(journal, "settleBytes")],
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
