/** The checks on an attack, the same for every row of every table. */
import { expect } from "vitest";

import type { Attack } from "./attack.ts";
import type { Sent } from "./http-exchange.ts";
import { bobSecrets } from "./stage.ts";
import type { Victim } from "./stage.ts";
import { comparable, tryAttack } from "./try-attack.ts";
import type { Place } from "./try-attack.ts";

/** A user who exists and one who does not. */
export interface Victims {
  readonly bob: Victim;
  readonly ghost: Victim;
}

/**
 * Makes the attempt on both. The answers must be the same, as the table expects, and without any of bob's secrets.
 * Nothing may be written, and the attempt must be recorded.
 */
export async function expectWithstood(
  { expected }: Pick<Attack, "expected">,
  { bob, ghost }: Victims,
  place: Place & { readonly sentTo: (victim: Victim) => Promise<Sent> },
): Promise<void> {
  const { answers, records, before, after } = await tryAttack(await place.sentTo(bob), expected, place);
  expect({ statuses: answers.map(({ status }) => status), records }).toEqual({
    statuses: expected.statuses,
    records: expected.records.toSorted(),
  });
  expect(answers.at(-1)?.body ?? "").toContain(expected.says ?? "");
  const text = JSON.stringify(answers);
  expect(bobSecrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(after).toEqual(before);

  const onNobody = await tryAttack(await place.sentTo(ghost), expected, place);
  expect(comparable(answers, bob)).toEqual(comparable(onNobody.answers, ghost));
  expect(onNobody.records).toEqual(records);
  expect(onNobody.after).toEqual(before);
}
