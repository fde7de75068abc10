/** Operations at the bounds that a user can reach. Each group fills a folder, and then does one thing after another. */
import { diffs } from "./diff-cases.ts";
import { full } from "./full-cases.ts";
import { grants } from "./grant-cases.ts";
import { history } from "./history-cases.ts";
import type { CaseGroup } from "./hold-case.ts";
import { waiting } from "./waiting-cases.ts";

export const caseGroups: readonly CaseGroup[] = [waiting, diffs, full, history, grants];
