/** Where calls come from, in the page: what a program has told, and never more than text. */
import { expect, test } from "vitest";

import type { ListedCall } from "../../host/audit/verify/log-summary.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { busyLog } from "./log-samples.ts";
import { wordsOf } from "./page-words.ts";

const [someCall] = busyLog().latestCalls;
const pageOf = (origin: ListedCall["origin"]): string =>
  htmlPage([], { ...busyLog(), latestCalls: someCall === undefined ? [] : [{ ...someCall, origin }] });

test("htmlPage shows where a call comes from, with what the program has told", () => {
  const full = { class: "direct_user", run: "r7", turn: "3", source: "menu.pdf" } as const;
  expect(wordsOf(pageOf({ ...full, exposedTo: ["tool_external", "unstated"] }))).toContain(
    "from direct_user menu.pdfrun r7 turn 3exposed to tool_external, unstated",
  );
  expect(wordsOf(pageOf({ class: "unstated" }))).toContain("from unstated ");
  expect(wordsOf(pageOf(undefined))).not.toContain("from unstated");
});

test.for([
  "https://example.com/</td><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "</style><link rel=stylesheet href=https://attacker.example/>",
  "javascript:alert(1)",
  "\u202egnp.exe\u001b[2J",
])("a source is only text in the page: %j", (source) => {
  const hostile = {
    class: source as OriginClass,
    run: source,
    turn: source,
    source,
    exposedTo: [source as OriginClass],
  };
  const page = pageOf(hostile);
  expect(page).not.toMatch(/<script|<img|<link|href="(?!#)|src=(?!x onerror=alert\(1\)&gt;)|onerror="/);
  // oxlint-disable-next-line no-control-regex -- what a terminal or a reader would obey
  expect(page).not.toMatch(/[\u001b\u202e]/);
  const shown = source.replace("\u202e", "U+202E").replace("\u001b", "U+001B");
  expect(wordsOf(page).split(shown)).toHaveLength(6);
});
