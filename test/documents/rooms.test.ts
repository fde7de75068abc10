/** The table of rooms in host/README.md is what the code says: which rooms there are, and who imports whom. */
import { expect, test } from "vitest";

import { imports } from "../tidy/imports.ts";
import { codeIn, tableBelow } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const roomOf = (file: string): string => /^host\/([^/]+)\//.exec(file)?.[1] ?? "index.ts";

const told = Object.fromEntries(
  tableBelow(textOf("host/README.md"), "Rooms").map(([room = "", , importsFrom = ""]) => [
    codeIn(room)[0] ?? "",
    codeIn(importsFrom),
  ]),
);

test("each room of host/ is in the table, with the rooms that it imports from", () => {
  const ofHost = imports.filter(({ from, to }) => from.startsWith("host/") && to.startsWith("host/"));
  const present = new Map(ofHost.map(({ to }) => [roomOf(to), new Set<string>()]));
  for (const { from, to } of ofHost) {
    const of = present.get(roomOf(from)) ?? new Set<string>();
    present.set(roomOf(from), roomOf(from) === roomOf(to) ? of : of.add(roomOf(to)));
  }
  expect(told).toEqual(Object.fromEntries([...present].map(([room, of]) => [room, [...of].toSorted()])));
});
