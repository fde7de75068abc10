import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { refusals } from "../../host/serve/http/refusals.ts";
import { storageRefusals } from "../../host/serve/storage/storage-refusal.ts";

/** The reasons and statuses in the tables of a page. */
function namedIn(folder: string): unknown {
  const page = readFileSync(new URL(`../../host/serve/${folder}/README.md`, import.meta.url), "utf8");
  const named = page.matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm);
  return Object.fromEntries(Array.from(named, ([, reason, status]) => [reason, Number(status)]));
}

test("the pages of refusals list every reason with its status, and no others", () => {
  const statuses = Object.entries(refusals).map(([reason, { status }]) => [reason, status]);
  expect(namedIn("http")).toEqual(Object.fromEntries(statuses));
  expect(namedIn("storage")).toEqual(storageRefusals);
});
