/** What the statements of copies get of another tenant: nothing. */
import { expect, test } from "vitest";

import * as copying from "../../host/store/postgres/copy/copy-statements.ts";
import type { HomePlace } from "../../host/store/postgres/home-place.ts";
import type { Row, Statement } from "../../host/store/postgres/statements.ts";
import { ToolError, digestOf, noVersion } from "../stage/store.ts";
import { IsolationStage, others, own } from "../store/postgres/isolation-stage.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";

const content = Buffer.from("taken over");
const sha256 = digestOf(content) ?? "";
const file = { scope: "memory", path: "new.md", sha256, bytes: 1, changedUs: 1, writtenUs: 1 };

/** How each asks for what is another tenant's. A new statement must be added here. */
const askingFor: Record<keyof typeof copying, (place: HomePlace) => Statement> = {
  wholeHome: (place) => copying.wholeHome(place),
  wholeFiles: (place) => copying.wholeFiles(place),
  wholeHistory: (place) => copying.wholeHistory(place),
  wholeRecords: ({ tenant }) => copying.wholeRecords(tenant),
  someContents: (place) => copying.someContents(place, [digestOf(Buffer.from("bob's secret")) ?? ""]),
  addHome: (place) =>
    copying.addHome(place, {
      userId: null,
      scopes: [],
      commits: 1,
      changedUs: 1,
      head: noVersion,
      keptBytes: 0,
      agedMs: 0,
      unknown: "owner_edit",
    }),
  addContents: (place) => copying.addContents(place, [{ sha256, content, commitNo: 1, isKept: true }]),
  addFiles: (place) => copying.addFiles(place, [{ file, origin: null }]),
  addVersions: (place) => copying.addVersions(place, ["{}"], 9),
  addFirstChange: (place) => copying.addFirstChange(place),
  addRecords: ({ tenant }) => copying.addRecords(tenant, [{ kind: "runs", name: "r", text: "taken over" }]),
  // Who leaves anything out is no secret to a host. What, is.
  listLeaving: () => copying.listLeaving(),
  listLeft: ({ tenant }) => copying.listLeft(tenant),
  addLeft: ({ tenant }) => copying.addLeft(tenant, [own]),
};

test("no statement of a copy shows or changes anything of another tenant", async () => {
  const url = await freshDatabase();
  await using stage = new IsolationStage(url);
  await stage.fill();
  const adminUrl = url.replace("memcell_host", "postgres");
  const before = await stage.all(adminUrl);
  for (const [name, asking] of Object.entries(askingFor)) {
    for (const kind of ["user", "store"] as const) {
      const shown: Row[][] | string = await stage
        .as(own, true, [asking({ tenant: others, kind })])
        .catch((error: unknown) => (error instanceof ToolError ? error.code : String(error)));
      const isNothing = typeof shown === "string" ? shown === "CAPABILITY_DENIED" : shown.flat().length === 0;
      expect([name, kind, isNothing || name === "listLeaving"]).toEqual([name, kind, true]);
    }
    expect([name, (await stage.all(adminUrl)) === before]).toEqual([name, true]);
  }
});
