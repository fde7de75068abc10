import { historyDefaults } from "../../stage/store.ts";

/** It stands still, so that the same operation in the same state always writes the same bytes. */
export const clock = (): number => Date.UTC(2026, 0, 2);

/** A store must go by the clock of its versions: by another one, all former contents could be too old. */
export const settings = { history: historyDefaults, clock };
