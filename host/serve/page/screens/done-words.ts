/** What a person is told after something was done. Only these words can be in an address. */
export const doneWords = {
  added: "Added.",
  approved: "Approved. It counts as your own words now.",
  cleared: "What they had written in your shared notebook is in the trash now.",
  confirmed: "Confirmed. It counts as your own words now.",
  emptied: "Deleted for good.",
  forgotten: "Moved to the trash. Assistants no longer see it.",
  granted: "Shared.",
  joined: "You see this shared notebook again.",
  quit: "You no longer see this shared notebook. To see it again, enter its number below.",
  rejected: "Rejected. Nothing was changed.",
  restored: "Put back.",
  revoked: "No longer shared.",
  same: "Nothing was changed: the text is the same as before.",
  saved: "Saved. The text before is below.",
} as const;
