/** Builds table rows about tokens. */
import { readPlan, withHeaders } from "./asking.ts";
import { badToken, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { claimsOf } from "./forge.ts";
import type { Header } from "./forge.ts";
import type { Stage, Victim } from "./stage.ts";

export type MakeToken = (victim: Victim, stage: Stage) => string | Promise<string>;

/** `make` returns what follows the scheme. */
export const token = (title: string, expected: Expected, make: MakeToken): Attack =>
  authorization(title, expected, async (victim, stage) => `Bearer ${await make(victim, stage)}`);

/** `make` returns the whole header. */
export const authorization = (title: string, expected: Expected, make: MakeToken): Attack =>
  row(title, expected, async (victim, stage) => withHeaders(readPlan, ["Authorization", await make(victim, stage)]));

/** The victim's claims with an attacker's signature. */
export const withHeader =
  (header: Header): MakeToken =>
  ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), header);

export const missing: Expected = badToken("token-missing");
export const malformed: Expected = badToken("token-malformed");
export const signature: Expected = badToken("token-signature");
export const algorithm: Expected = badToken("token-algorithm");
export const unknownKey: Expected = badToken("token-key");
