import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { refusals } from "../../host/serve/http/refusals.ts";

test("the page of refusals lists every reason with its status, and no others", () => {
  const page = readFileSync(new URL("../../host/serve/http/README.md", import.meta.url), "utf8");
  const named = Array.from(page.matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm), ([, reason, status]) => [
    reason,
    Number(status),
  ]);
  expect(Object.fromEntries(named)).toEqual(
    Object.fromEntries(Object.entries(refusals).map(([reason, { status }]) => [reason, status])),
  );
});
