import { readSettings } from "../../config/read-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { oneOf } from "../../owner/field.ts";
import { withClient } from "../../store/postgres/connections.ts";
import { checkDatabase, migrate } from "../../store/postgres/schema.ts";
import { defineCommand, jsonField } from "../command.ts";
import { printResult } from "../print-told.ts";

export const command = defineCommand({
  name: "db",
  description: `Works on the PostgreSQL database of the setting store.

"migrate" brings it to the present version, in one transaction: all or nothing. It changes nothing if there is nothing
to do, and refuses a database that is newer. It needs a role that can become memcell_owner; the first time, a role that
can create roles. It makes the roles memcell_owner, memcell_migrator and memcell_app, which cannot log in: give
memcell_app to the role that hosts log in as.

"check" prints what in the database and in its own role is not as hosts need it. Hosts that find anything do not start.`,
  fields: { action: oneOf(["migrate", "check"], "migrate|check", "what to do"), json: jsonField },
  operands: ["action"],
  settings: ["store"],
  examples: [
    "memcell db migrate --store postgres://postgres@localhost/memory",
    "memcell db check --store postgres://host@localhost/memory",
  ],
  exitCodes: ["done, or nothing to find", "failed; or found something"],

  async run({ input, settings, terminal }) {
    const { store } = (await readSettings(settings)).values;
    if (store === null) throw new UsageError("the setting store is missing; expected postgres://ROLE@HOST/DATABASE");
    const isMigrating = input.action === "migrate";
    const found = isMigrating ? await withClient(store, migrate, 0) : await withClient(store, checkDatabase);
    const lines = found.map((each) => (isMigrating ? `applied ${each}` : each));
    const nothing = isMigrating ? "nothing to do" : "OK: schema and role are correct";
    const told = lines.length === 0 ? [nothing] : lines;
    printResult(terminal, input.json, isMigrating ? { applied: found } : { findings: found }, told);
    return isMigrating || found.length === 0 ? 0 : 1;
  },
});
