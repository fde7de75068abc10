/** The settings of whatever opens a runtime. */
import { queueLimits } from "../../shared/limits.ts";
import * as z from "../../shared/zod.ts";
import { readMount } from "./mount-text.ts";
import type { Setting } from "./setting.ts";
import { fileName, folderName, listOf, someOf, textThat, timeMs, wholeNumber } from "./value-schemas.ts";

export const runtimeTable = {
  data: {
    form: "file",
    schema: folderName,
    default: "data",
    meaning: "the data folder",
  },
  mounts: {
    form: "mounts",
    schema: () =>
      listOf(
        textThat((text) => readMount(text) !== null, 'SCOPE=DIR, as in "journal=notes"'),
        "SCOPE=DIR",
      ),
    default: [],
    meaning: "folders that each stand for a scope of the one user",
  },
  journal: {
    form: "file",
    schema: folderName,
    default: null,
    unset: "in the data folder",
    meaning: "the folder of the one user's journal, short for the mount journal=DIR",
  },
  policy: {
    form: "file",
    schema: fileName,
    default: null,
    unset: "what the tools of the package need",
    meaning: "what the host is willing to grant",
  },
  auditLog: {
    form: "file",
    schema: fileName,
    default: null,
    unset: "nowhere",
    meaning: "where to record what is done",
  },
  plugins: {
    form: "files-or-names",
    schema: () => someOf(fileName(), "plugin files, or names of plugins"),
    default: null,
    unset: "all that come with the package",
    meaning: "the plugins to load: files, or names of those that come with the package",
  },
  durability: {
    form: "text",
    schema: () => z.enum(["full", "relaxed"], "full, relaxed"),
    default: "full",
    meaning: "full: what is acknowledged survives a power cut; relaxed: the death of the process",
  },
  waitMs: {
    form: "number",
    schema: timeMs,
    default: queueLimits.waitMs,
    meaning: "how long a call may wait for its turn, in milliseconds",
  },
  deadlineMs: {
    form: "number",
    schema: timeMs,
    default: null,
    unset: "what plugin and policy say",
    meaning: "how long a tool may run, in milliseconds; it only lowers",
  },
  threadsMax: {
    form: "number",
    schema: () => wholeNumber(1, 1_024),
    default: null,
    unset: "one for each core",
    meaning: "threads that run tools in memcell serve; other commands take one",
  },
} as const satisfies Record<string, Setting>;
