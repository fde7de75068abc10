import { historyDefaults } from "../values/history-limits.ts";
import type { HistoryLimits } from "../values/history-limits.ts";

/** What a runtime says of itself to the store that it opens. */
export interface StoreSettings {
  readonly history: HistoryLimits;
  /** Milliseconds since 1970-01-01 UTC: the clock of the versions. */
  readonly clock: () => number;
}

export const defaultSettings: StoreSettings = { history: historyDefaults, clock: Date.now };
