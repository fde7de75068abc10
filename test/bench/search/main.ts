/**
 * `npm run bench:search`: in how many cases a search finds the right text first, among the first five, and among the
 * first ten; compared with MiniSearch. The results do not depend on the machine.
 *
 * usage: node dist/test/bench/search/main.js [--write]
 *
 *   --write   put the table into README.md beside this file
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { requirePackages } from "../../support/system-packages.ts";
import { debianFaq, debianFaqFile, debianLanguages, perlFaq } from "./faq-sets.ts";
import type { QuestionSet } from "./faq-sets.ts";
import { searchers } from "./searchers.ts";
import { verseFiles, verses } from "./verse-set.ts";

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const missing = await requirePackages({
  "/usr/share/doc/perl-doc": "perl-doc",
  [debianFaqFile("en")]: "debian-faq",
  [debianFaqFile("de")]: "debian-faq-de",
  [debianFaqFile("ja")]: "debian-faq-ja",
  [debianFaqFile("zh-cn")]: "debian-faq-zh-cn",
  [debianFaqFile("ko")]: "debian-faq-ko",
  [verseFiles.web]: "sword-text-web",
  [verseFiles.kjv]: "sword-text-kjv",
});
if (missing !== null) throw new Error(missing);

const languages = Object.keys(debianLanguages) as (keyof typeof debianLanguages)[];
const sets = [perlFaq(), ...languages.map(debianFaq), verses()];
const names = Object.keys(searchers);
const lines = [
  `| texts | questions | ${names.join(" | ")} |`,
  `|---|---|${names.map(() => "---|").join("")}`,
  ...sets.map((set) => `| ${set.name}: ${set.texts.length} | ${set.questions.length} | ${cellsOf(set).join(" | ")} |`),
];
const table = lines.join("\n");
console.log(table);

if (values.write) {
  const readme = join(
    fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json"))),
    "test/bench/search/README.md",
  );
  const [before = "", rest = ""] = readFileSync(readme, "utf8").split(/(?<=<!-- recall: .*-->\n)/);
  const [, after = ""] = rest.split(/(?=<!-- \/recall -->)/);
  writeFileSync(readme, `${before}${table}\n${after}`);
}

/** The percentages of the questions whose text is the first, among the first five, and among the first ten. */
function cellsOf(set: QuestionSet): string[] {
  return Object.values(searchers).map((searcherOf) => {
    const search = searcherOf(set);
    const places = set.questions.map(({ question, id }) => search(question).indexOf(id));
    const found = [1, 5, 10].map((count) => places.filter((place) => place >= 0 && place < count).length);
    return found.map((each) => ((100 * each) / places.length).toFixed(1)).join(" / ");
  });
}
