/** Attacks on what an agent remembers, each as a row of the table in the README. */
import { afterAll, describe, expect, test } from "vitest";

import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { AttackStage, Ground } from "./attack-stage.ts";
import type { Attack } from "./attack.ts";
import { approval, hooks } from "./attacks/approval.ts";
import { direct } from "./attacks/direct.ts";
import { disk } from "./attacks/disk.ts";
import { laundering, runs } from "./attacks/laundering.ts";
import { limits } from "./attacks/limits.ts";
import { grants, moves } from "./attacks/moves.ts";
import { names } from "./attacks/names.ts";
import { transfers } from "./attacks/transfers.ts";

const ofPages = [...direct, ...laundering, ...runs, ...approval, ...hooks];
const attacks = [...ofPages, ...moves, ...transfers, ...grants, ...names, ...disk, ...limits];

/** What they attack is kept by the store: what runs have read, what waits, what is shared. */
const ofStores = new Set(["runs", "an approval", "a shared store"]);

const isOn = ({ class: of, on }: Attack, kind: "files" | "memory"): boolean =>
  on === undefined ? kind === "memory" || ofStores.has(of) : on === kind;

describe.for(["files", "memory"] as const)("in %s", (kind) => {
  const ground = new Ground(kind);
  afterAll(() => ground[Symbol.asyncDispose]());

  const rows = attacks.filter((attack) => isOn(attack, kind));
  test.for(rows.map((row) => [`${row.class}: ${row.attack}`, row] as const))("%s", async ([, { play }]) => {
    expect.hasAssertions();
    await using stage = await AttackStage.begin(ground);
    await play(stage);
  });
});

test("the README has each attack, and says what happens", () => {
  const rows = tableBelow(textOf("test/trust/README.md"), "Attacks");
  expect(rows.map((row) => row.slice(0, 2))).toEqual(attacks.map(({ class: of, attack }) => [of, attack]));
  expect(rows.filter(([, , happens]) => !happens)).toEqual([]);
});
