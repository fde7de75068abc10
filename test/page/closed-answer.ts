/** What every answer of the page has. */
import { expect } from "vitest";

import type { Answer } from "../stage/http-requests.ts";

/** Headers of every answer, also of one that refuses. */
export function expectClosed({ headers }: Answer): void {
  expect(headers).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
}
