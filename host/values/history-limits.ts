/** How much of what files were is kept, in the history of one user, mounted folder or shared store. */
export interface HistoryLimits {
  /** For so many days a content is kept after it was replaced or deleted. */
  readonly daysMax: number;
  /** So many bytes of contents are kept, on the disk. */
  readonly bytesMax: number;
}

const mib = 1024 * 1024;

export const historyDefaults: HistoryLimits = { daysMax: 90, bytesMax: 32 * mib };

/** What a policy can ask for. The last MiB of contents is never removed for its bytes, so fewer cannot be promised. */
export const historyRanges = {
  daysMax: { min: 1, max: 3_650 },
  /** To purge the trash is to read all of them while the user is held: 256 MiB take a second. */
  bytesMax: { min: mib, max: 256 * mib },
} as const;
