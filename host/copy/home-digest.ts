import { createHash } from "node:crypto";

import type { CopiedHome } from "../store/copying.ts";
import { placeKey } from "../store/versions/present-origins.ts";

/**
 * A hash of everything that a copy of a home has in common with it: files with contents, times and origins, the versions,
 * the contents that are kept, records, and whose store it is. Grants are a file.
 */
export function digestOfHome(facts: CopiedHome): string {
  const digest = createHash("sha256");
  const add = (...values: readonly (string | number | boolean | null)[]): void =>
    void digest.update(`${JSON.stringify(values)}\n`);
  add("home", facts.unknown, facts.isBroken, facts.creator);
  for (const file of facts.files) {
    const origin = facts.origins.get(placeKey(file));
    add("file", file.scope, file.path, file.sha256, file.writtenUs);
    if (origin) add(origin.seq, origin.sha256, origin.class, origin.trust, origin.atMs, origin.kind ?? null);
  }
  for (const line of facts.lines) add("version", line);
  for (const sha256 of facts.kept.map((each) => each.sha256).toSorted()) add("kept", sha256);
  for (const { kind, name, text } of facts.records) add("record", kind, name, text);
  return digest.digest("hex");
}
