/** What an audit says, as text and as a page, of a plugin from which the policy takes something away. */
import { expect, test } from "vitest";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { proposePolicy } from "../../host/plugins/policy/propose-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { textReport } from "../../host/report/text-report.ts";
import { unwrapped } from "./run-audit.ts";
import { shippedBytes, shippedManifest } from "./tamper.ts";

const shipped = readArtifact(shippedBytes, "user-memory.wasm");
const plain = (report: AuditReport): string => textReport(report, { isColoured: false });

/** A policy that takes two tools away and keeps a third for programs. */
async function narrowReport(): Promise<AuditReport> {
  const proposed = proposePolicy(shippedManifest, shipped.sha256);
  const [name = ""] = Object.keys(proposed.plugins);
  const { RestoreEntry: _, ...others } = proposed.plugins[name]?.tools ?? {};
  const read = { rights: ["read" as const], scopes: ["memory"] };
  const tools = { ...others, UpdateUserMemory: read, ReadUserMemory: { ...read, audience: "host" as const } };
  const policy = await loadPolicy({ ...proposed, plugins: { [name]: { tools } } });
  return makeReport({ artifact: shipped, policy, dependencies: null });
}

test("the text shows who calls which tool, and a line for each thing that is taken away", async () => {
  const report = await narrowReport();
  expect(report).toMatchObject({ verdict: "PASS", deviations: [] });
  expect(Object.fromEntries(report.tools.map((tool) => [tool.name, tool.callers]))).toEqual({
    UpdateUserMemory: "nobody",
    ReadUserMemory: "programs",
    SearchUserMemory: "models",
    PromptIndex: "programs",
    ListEntries: "programs",
    InspectMemory: "programs",
    RestoreEntry: "nobody",
  });
  expect(plain(report)).toMatch(/^UpdateUserMemory {2}nobody {6}yes {3}NO /m);
  expect(plain(report)).toMatch(/^ReadUserMemory {4}model \(NO\) {2}yes /m);
  expect(plain(report)).toMatch(/^RestoreEntry {6}nobody {6}NO {4}NO /m);
  expect(unwrapped(plain(report))).toContain(
    [
      '  policy: The tool "UpdateUserMemory" asks for "list", "write", "trash", "clock", the policy grants it "read": it is not available.',
      '  policy: The tool "ReadUserMemory" is to be offered to models, the policy keeps it for the host: only programs can call it.',
      '  policy: The policy does not name the tool "RestoreEntry", so it grants it nothing: it is not available, so its deleted files come back byte for byte, without the plugin.',
      "PASS  it is what its manifest says, and the policy takes away what is above",
    ].join("\n"),
  );
  expect(
    plain(report)
      .split("\n")
      .filter((line) => line.length > 80),
  ).toEqual([]);
});

test("the page says the same", async () => {
  const report = await narrowReport();
  const text = htmlPage([report], null).replaceAll(/<style[\s\S]*<\/style>|<[^>]*>/g, "");
  const words = text.replaceAll("&quot;", '"').replaceAll(/\s+/g, " ");
  expect(words).toContain("PASS The file matches its manifest. A host with the policy inline uses it without what");
  expect(report.narrowings).toHaveLength(3);
  expect(words).toContain(`The policy takes away: ${report.narrowings.join(" ")}`);
  expect(words).toContain(
    "It has 7 tools, of which 5 can be called, of which a model can call 1. Together they ask for",
  );
  expect(words).not.toContain("FAIL");
});

test("a plugin of which nothing is left fails, with the reasons of a strict policy", async () => {
  for (const strict of [false, true]) {
    for (const plugins of [{}, { [shippedManifest.name]: { tools: {} } }]) {
      const policy = await loadPolicy({ version: 1, strict, plugins });
      const report = makeReport({ artifact: shipped, policy, dependencies: null });
      expect(report).toMatchObject({ verdict: "FAIL", narrowings: [] });
      expect(report.deviations).toHaveLength(Object.keys(plugins).length === 0 ? 1 : shippedManifest.tools.length);
      expect(report.deviations[0]?.text).toMatch(/^The policy (?:"inline" )?does not name the (?:plugin|tool) "/);
    }
  }
});
