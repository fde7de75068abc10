import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { segmentWith } from "../stage/journal.ts";
import type { JournalOptions, JournaledChange } from "../stage/journal.ts";
import { walOfChange } from "../stage/wal.ts";
import type { Home } from "../store/store-stage.ts";

/** A file or folder of the host's own. */
export const own = ({ folder }: Home, name: string): string => join(folder, ".memcell", name);

/** A form in which a home has what a crash is repaired from. */
export interface Form {
  readonly form: string;
  /** Puts it into its place. */
  readonly plant: (home: Home, bytes: Uint8Array) => string;
  readonly ofChange: (owner: string, change: JournaledChange, options?: JournalOptions) => Buffer;
}

export const forms: readonly Form[] = [
  {
    form: "a journal",
    plant: (home, bytes) => {
      const segment = own(home, "journal/000000000001.log");
      writeFileSync(segment, bytes);
      return segment;
    },
    ofChange: segmentWith,
  },
  {
    form: "a log of format 2",
    plant: (home, bytes) => {
      for (const name of ["journal", "journal-head"]) rmSync(own(home, name), { recursive: true, force: true });
      writeFileSync(own(home, "journal"), bytes);
      return own(home, "journal");
    },
    ofChange: (owner, change, options) => walOfChange(owner, { ...change }, options),
  },
];
