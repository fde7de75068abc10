/** The page of a plugin with its own error codes. */
import { expect, test } from "vitest";

import { htmlPage } from "../../host/report/page/html-page.ts";
import { passingReport } from "./report-samples.ts";

const caption = "The plugin’s own error codes, with the meanings that a model gets";

test("htmlPage shows each code, the standard code behind it and its meaning, as text", () => {
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

test("htmlPage does not mention error codes if a plugin has none of its own", () => {
  expect(htmlPage([passingReport()], null)).not.toContain(caption);
});
