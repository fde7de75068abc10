/** What an audit says of a plugin that shares stores: what its scope and its rights reach, and no more. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { textReport } from "../../host/report/text-report.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { unwrapped } from "./run-audit.ts";

const policy = await loadPolicy(undefined);

function reportOn(plugin: string): AuditReport {
  const artifact = readArtifact(Uint8Array.from(readFileSync(shippedPlugin(plugin))), `${plugin}.wasm`);
  return makeReport({ artifact, policy, dependencies: null });
}
const [sharing, other] = [reportOn("stores"), reportOn("user-memory")];

test("the text says what the scope is and what each capability reaches, within 80 columns", () => {
  const text = textReport(sharing, { isColoured: false });
  const [imports = ""] = /^imports .*?(?=^exports)/ms.exec(text) ?? [];
  expect(imports.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const inStores = "; with the scope store:*, of the shared stores that the host lets the user reach";
  expect(unwrapped(imports)).toContain(`reads a file of the calling user in the tool's scopes${inStores}`);
  expect(unwrapped(imports)).toContain("with the right search, also those shared for searching alone");
  expect(textReport(other, { isColoured: false })).not.toContain("store:*");
});

test("the page does not claim that the plugin reaches no other user", () => {
  const page = htmlPage([sharing], null).replaceAll(/<[^>]*>/g, "");
  expect(page).toContain("Of these scopes, the scope store:* is the calling user");
  expect(page).toContain("no other user except in shared stores that the host lets the calling user reach");
  expect(page).not.toContain("cannot choose another user");
  const otherPage = htmlPage([other], null).replaceAll(/<[^>]*>/g, "");
  expect(otherPage).toContain("cannot choose another user");
  expect(otherPage).not.toContain("store:*");
});
