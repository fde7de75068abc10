/** The page of a plugin that has error codes of its own. */
import { expect, test } from "vitest";

import { htmlPage } from "../../host/report/page/html-page.ts";
import { passingReport } from "./report-samples.ts";

const caption = "The plugin’s own error codes, with the meanings that a model gets";

test("htmlPage tells each code, what it is a case of and what it means, as text", () => {
  const report = passingReport();
  const { manifest } = report.artifact;
  if (!manifest) throw new Error("The shipped plugin has no manifest");
  const errors = [{ code: "KEY_EXISTS", of: "NAME_CONFLICT" as const, meaning: "A note has this <b>key</b>." }];
  const page = htmlPage([{ ...report, artifact: { ...report.artifact, manifest: { ...manifest, errors } } }], null);
  const [, table = ""] = new RegExp(`${caption}([\\s\\S]*?)</table>`).exec(page) ?? [];
  const cells = Array.from(table.matchAll(/<t[dh](?: [^>]*)?>([\s\S]*?)<\/t[dh]>/g), ([, cell = ""]) => cell.trim());
  expect(cells).toEqual([
    "Code",
    "A case of",
    "Meaning",
    "<code><bdi>KEY_EXISTS</bdi></code>",
    "<code><bdi>NAME_CONFLICT</bdi></code>",
    "<bdi>A note has this &lt;b&gt;key&lt;/b&gt;.</bdi>",
  ]);
});

test("htmlPage says nothing of codes where a plugin has none of its own", () => {
  expect(htmlPage([passingReport()], null)).not.toContain(caption);
});
