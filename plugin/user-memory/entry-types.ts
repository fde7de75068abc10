export const entryTypes = ["user", "feedback", "project", "reference"] as const;

export type EntryType = (typeof entryTypes)[number];
