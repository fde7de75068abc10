/** Attacks on what an agent remembers, each as a row of the table in the README. */
import { describe, expect, test } from "vitest";

import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { AttackStage } from "./attack-stage.ts";
import type { Attack } from "./attack.ts";
import { approval, hooks } from "./attacks/approval.ts";
import { direct } from "./attacks/direct.ts";
import { disk } from "./attacks/disk.ts";
import { laundering, runs } from "./attacks/laundering.ts";
import { limits } from "./attacks/limits.ts";
import { grants, moves } from "./attacks/moves.ts";
import { names } from "./attacks/names.ts";
import { transfers } from "./attacks/transfers.ts";

const attacks = [
  ...direct,
  ...laundering,
  ...runs,
  ...approval,
  ...hooks,
  ...moves,
  ...transfers,
  ...grants,
  ...names,
  ...disk,
  ...limits,
];

/** What they attack is kept by the store: what runs have read, what waits, what is shared. */
const ofStores = new Set(["runs", "an approval", "a shared store"]);

const isOn = ({ class: of, on }: Attack, kind: "files" | "memory"): boolean =>
  on === undefined ? kind === "files" || ofStores.has(of) : on === kind;

describe.for(["files", "memory"] as const)("in %s", (kind) => {
  const rows = attacks.filter((attack) => isOn(attack, kind));
  test.for(rows.map((row) => [`${row.class}: ${row.attack}`, row] as const))("%s", async ([, { play }]) => {
    expect.hasAssertions();
    await using stage = new AttackStage(kind);
    await stage.begin();
    await play(stage);
  });
});

test("the README has each attack, and what happens", () => {
  const rows = tableBelow(textOf("test/trust/README.md"), "Attacks");
  expect(rows).toEqual(attacks.map(({ class: of, attack, happens }) => [of, attack, happens]));
});
