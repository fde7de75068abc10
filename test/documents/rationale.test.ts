/** The decisions in every `RATIONALE.md`: references to them, and the versions that they are about. */
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { questionsIn } from "./markdown-table.ts";
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

test.each([
  ["host/guest", "@extism/extism"],
  ["host/thread", "piscina"],
])("%s: a decision about %s is about the version in use", (folder, name) => {
  const { dependencies } = JSON.parse(textOf("package.json")) as { dependencies: Record<string, string> };
  expect(textOf(`${folder}/RATIONALE.md`)).toContain(`${name} ${dependencies[name]}`);
});
