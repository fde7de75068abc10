/**
 * Where memcell differs from the SDK's local implementation, as the first column of the table in
 * `shared/anthropic/README.md` names it.
 */
export const traps = {
  finalLineEnd: "A text that ends in a line end shows an empty line after it.",
  emptyText: "An empty text shows an empty line.",
  emptyRange: "A `view_range` that holds no line of the file shows nothing; one that is no pair is ignored.",
  tooManyLines: "The message for more than 999,999 lines is not the documented one.",
  longText: "A text of any length is shown whole.",
  severalLines: "`str_replace` never finds an `old_str` of several lines.",
  twiceInLine: "Of two matches in one line, `str_replace` silently replaces the first.",
  noNewText: "Without `new_str`, it writes `undefined`.",
  emptyOldText: "An empty `old_str` is found in every line.",
  editedFolder: "`str_replace` and `insert` say of a directory that it is not a file.",
  insertMissing: "`insert` into a missing file has the message of `view`.",
  insertRange: "`insert` counts an empty line after the last line end.",
  insertLineEnd: "`insert` at the end drops the line end of the text, or adds one to an empty file.",
  insertFraction: "`insert_line` can be 1.5.",
  hostPaths: "Errors of the operating system show paths of the host.",
  rootPrefix: "`/memories_backup/a` is taken for `/memories/_backup/a`.",
  parts: "`..` inside the root and empty parts are resolved.",
  encoded: "`%2e%2e%2f` and `..\\` are letters of a name.",
  doubleSlash: "A listing of `/memories/a/` shows `/memories/a//b`.",
  folderSize: "The size of a directory is that of its inode.",
  emptyFolder: "A directory stays when nothing is left in it.",
  lostUpdates: "Of 10 inserts at once, 9 are lost.",
  links: "Links are followed inside the root.",
  reserved: "A directory can be called `shared`.",
  longName: "Names and texts are as long as the disk allows.",
} as const;

export type Trap = (typeof traps)[keyof typeof traps];
