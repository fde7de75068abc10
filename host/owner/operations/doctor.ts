import { defineOperation } from "../define-operation.ts";
import { inspectUser, mendUser } from "../doctor.ts";

/** The command `doctor` looks at many users, and mends what it has found: it is no command of one operation. */
export const inspect = defineOperation({
  name: "inspect",
  action: "inspect a user's files",
  changes: false,
  fields: {},
  run: inspectUser,
});

export const mend = defineOperation({
  name: "mend",
  action: "mend a user's files",
  changes: true,
  fields: {},
  run: mendUser,
});
