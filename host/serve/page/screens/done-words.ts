/** What a person is told after something was done. Only these words can be in an address. */
export const doneWords = {
  added: "Added.",
  approved: "Approved. From now on this text counts as yours.",
  cleared: "What they had written in your shared store is in the trash now.",
  confirmed: "Confirmed. From now on this text counts as yours.",
  emptied: "Removed for good.",
  forgotten: "Moved to the trash. Agents no longer see it.",
  granted: "Shared.",
  joined: "You see this shared store again.",
  quit: "You no longer see this shared store. To see it again, enter its number below.",
  rejected: "Rejected. Nothing was changed.",
  restored: "Put back.",
  revoked: "No longer shared.",
  same: "Nothing was changed: the text is the same as before.",
  saved: "Saved. The text before is in the history below.",
} as const;
