import { counted } from "../../shared/text.ts";
import type { Changes, LogSummary, UserCalls } from "../audit/verify/log-summary.ts";
import { visibleName } from "../values/visible-text.ts";
import { columns, shortened } from "./columns.ts";
import { textOfVerification } from "./verify-command.ts";

/** The summary of an audit log, for a terminal. */
export function textOfLog(log: LogSummary): string {
  const counts = `${log.calls} calls, ${log.failed} failed; ${log.denials} denied uses, ${log.failedUses} failed uses`;
  const verified = `LOG\n${textOfVerification(log.verification)}${counts}`;
  return [verified, ...refusalLines(log), ...originLines(log), ...userLines(log)].join("\n");
}

/** Empty if nothing was refused, as in most logs: programs that embed memcell usually admit their users themselves. */
function refusalLines({ refused, refusals, refusedNotShown }: LogSummary): string[] {
  if (refused === 0) return [];
  const kinds = refusals.map(({ surface, reason, times }) => `  ${surface} ${reason}: ${times}`);
  const others = refusedNotShown > 0 ? [`  other kinds: ${refusedNotShown}`] : [];
  return [`${refused} requests refused before any tool was called`, ...kinds, ...others];
}

/** Empty if no program has told where its texts come from. */
function originLines({ callsByOrigin }: LogSummary): string[] {
  if (callsByOrigin.length === 0) return [];
  const rows = callsByOrigin.map((sums) => [sums.class, `${sums.calls}`, `${changesIn(sums)}`]);
  return [columns([["origins", "calls", "changed"], ...rows], [1, 2]).trimEnd()];
}

/** One screen. The page and the JSON report have more. */
const usersMax = 20;

function userLines({ callsByUser, usersNotShown }: LogSummary): string[] {
  if (callsByUser.length === 0) return [];
  const shown = callsByUser.slice(0, usersMax);
  const heading = ["users", "calls", "failed", "denied", "refused", "changed", "last"];
  const table = columns([heading, ...shown.map(rowOf)], [1, 2, 3, 4, 5]).trimEnd();
  const left = callsByUser.length - shown.length + usersNotShown;
  return [table, ...(left > 0 ? [`  and ${counted(left, "more user")}`] : [])];
}

function rowOf({ userId, lastTime, ...sums }: UserCalls): string[] {
  const { calls, failed, denials, refused } = sums;
  const name = userId === null ? "(no valid user id)" : shortened(visibleName(userId, 255), 36);
  const counts = [calls, failed, denials, refused, changesIn(sums)].map(String);
  return [name, ...counts, `${lastTime.slice(0, 10)} ${lastTime.slice(11, 16)}`];
}

const changesIn = ({ written, trashed, removed, granted }: Changes): number => written + trashed + removed + granted;
