import { readSettings } from "../../config/read-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { oneOf } from "../../owner/field.ts";
import { withClient } from "../../store/postgres/connections.ts";
import { checkDatabase, migrate } from "../../store/postgres/schema.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand, jsonField } from "../command.ts";
import type { Terminal } from "../terminal.ts";

export const dbCommand = defineCommand({
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
    return await (input.action === "migrate" ? migrateAt : checkAt)(store, terminal, input.json === true);
  },
});

async function migrateAt(url: string, { stdout }: Terminal, isJson: boolean): Promise<number> {
  const applied = await withClient(url, migrate, 0);
  if (isJson) stdout.write(`${visibleJson({ applied })}\n`);
  if (isJson) return 0;
  for (const name of applied) stdout.write(`applied ${name}\n`);
  if (applied.length === 0) stdout.write("nothing to do\n");
  return 0;
}

async function checkAt(url: string, { stdout }: Terminal, isJson: boolean): Promise<number> {
  const findings = await withClient(url, checkDatabase);
  if (isJson) stdout.write(`${visibleJson({ findings })}\n`);
  if (isJson) return findings.length === 0 ? 0 : 1;
  for (const finding of findings) stdout.write(`${visibleText(finding)}\n`);
  if (findings.length === 0) stdout.write("OK: schema and role are correct\n");
  return findings.length === 0 ? 0 : 1;
}
