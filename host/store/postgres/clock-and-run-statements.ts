/** The statements about what ends by time, and about runs whose trust has fallen. */
import { loweredRunsMax } from "../versions/lowered-runs.ts";
import type { HomePlace } from "./home-place.ts";
import type { Statement } from "./statements.ts";

/** By which process old contents were last looked for, and how long it had been running. */
export const agedBy = ({ tenant, kind }: HomePlace): Statement => ({
  text: "SELECT aged_by FROM memcell.homes WHERE tenant = $1 AND kind = $2",
  values: [tenant, kind],
});

export const noteAgedBy = ({ tenant, kind }: HomePlace, by: string): Statement => ({
  text: "UPDATE memcell.homes SET aged_by = $3 WHERE tenant = $1 AND kind = $2",
  values: [tenant, kind, by],
});

/** The last versions that say that a run is trusted less; the last first. */
export const listLowered = ({ tenant, kind }: HomePlace): Statement => ({
  text: `SELECT lines[1] AS line FROM memcell.changes
    WHERE tenant = $1 AND kind = $2 AND is_lowering ORDER BY commit_no DESC LIMIT ${loweredRunsMax}`,
  values: [tenant, kind],
});
