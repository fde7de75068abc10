/** Whether a database is as the migrations have left it: version, roles, flags, ownership and rights. */
import { counted } from "../../../shared/text.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Client } from "./client.ts";
import { migrations, refuseNewer } from "./migrate.ts";

/** One thing that is not as it must be, as a sentence without its end. */
export type DatabaseFinding = string;

/** Throws `STORAGE_FAILED` if the database or the role that the client has logged in as is not fit for a host. */
export async function refuseUnfit(client: Client): Promise<void> {
  const [first, ...others] = await checkDatabase(client);
  if (first === undefined) return;
  const more = others.length === 0 ? "" : `, and ${counted(others.length, "more finding")}`;
  throw new ToolError("STORAGE_FAILED", `Cannot use the database: ${first}${more}; see memcell db check`);
}

/** For the role that the client has logged in as. Throws `STORAGE_FAILED` if the database is newer than this host. */
export async function checkDatabase(client: Client): Promise<DatabaseFinding[]> {
  const missing = await missingMigrations(client);
  if (missing.length > 0) return [`${missing.join(", ")} is not applied, run memcell db migrate`];
  const findings: DatabaseFinding[] = [];
  for (const check of [checkRole, checkOwner, checkTables, checkViews, checkFunctions]) {
    findings.push(...(await check(client)));
  }
  return findings;
}

async function missingMigrations(client: Client): Promise<string[]> {
  const { rows: found } = await client.query<{ can: boolean }>(
    "SELECT coalesce(has_schema_privilege(oid, 'USAGE'), false) AS can FROM pg_namespace WHERE nspname = 'memcell'",
  );
  if (found[0] === undefined) return [...migrations];
  if (!found[0].can)
    throw new ToolError("STORAGE_FAILED", "Cannot use the database: the role is no member of memcell_app");
  const { rows } = await client.query<{ name: string }>("SELECT name FROM memcell.migrations");
  const applied = rows.map(({ name }) => name);
  refuseNewer(applied);
  return migrations.filter((name) => !applied.includes(name));
}

/** The sentences that say what is not as it must be. */
const stated = (all: readonly (readonly [isAsItMustBe: boolean, finding: DatabaseFinding])[]): DatabaseFinding[] =>
  all.flatMap(([isAsItMustBe, finding]) => (isAsItMustBe ? [] : [finding]));

/** What would pass the policies by. */
async function checkRole(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{
    login: string;
    reaches: string | null;
    owns: boolean;
    makes: boolean;
    is_app: boolean;
  }>(
    `SELECT session_user AS login,
      (SELECT min(rolname) FROM pg_roles r
        WHERE (r.rolsuper OR r.rolbypassrls) AND pg_has_role(session_user, r.oid, 'MEMBER')) AS reaches,
      pg_has_role(session_user, 'memcell_owner', 'MEMBER') AS owns,
      has_schema_privilege(session_user, 'memcell', 'CREATE') AS makes,
      pg_has_role(session_user, 'memcell_app', 'MEMBER') AS is_app`,
  );
  return rows.flatMap(({ login, reaches, owns, makes, is_app: isApp }) =>
    stated([
      [reaches === null, `role ${login} is or can become ${reaches}, which passes row-level security by`],
      [!owns, `role ${login} can become memcell_owner, allowed: a member of memcell_app alone`],
      [!makes || owns, `role ${login} can create in the schema memcell`],
      [isApp, `role ${login} is no member of memcell_app`],
    ]),
  );
}

async function checkOwner(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ rolname: string }>(
    `SELECT rolname FROM pg_roles
      WHERE rolname IN ('memcell_owner', 'memcell_app') AND (rolsuper OR rolbypassrls OR rolcreaterole)
        OR rolname = 'memcell_owner' AND rolcanlogin`,
  );
  return rows.map(
    ({ rolname }) => `role ${rolname} can do more than it may: LOGIN, SUPERUSER, BYPASSRLS or CREATEROLE`,
  );
}

async function checkTables(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string; is_on: boolean; owner: string; adds_only: boolean }>(
    `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS is_on, pg_get_userbyid(c.relowner) AS owner,
      NOT has_table_privilege('memcell_app', c.oid, 'UPDATE, DELETE, TRUNCATE') AS adds_only
      FROM pg_class c WHERE c.relnamespace = 'memcell'::regnamespace AND c.relkind IN ('r', 'p')`,
  );
  return rows.flatMap(({ name, is_on: isOn, owner, adds_only: addsOnly }) =>
    stated([
      [isOn, `table ${name} has no forced row-level security`],
      [owner === "memcell_owner", `table ${name} is ${owner}'s, allowed: memcell_owner's`],
      [name !== "changes" || addsOnly, "role memcell_app can change the history"],
    ]),
  );
}

async function checkViews(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'memcell'::regnamespace
      AND (relkind = 'm' OR relkind = 'v' AND NOT coalesce(reloptions @> '{security_invoker=true}', false))`,
  );
  return rows.map(({ name }) => `view ${name} passes row-level security by, allowed: with security_invoker`);
}

async function checkFunctions(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string; owner: string; is_safe: boolean }>(
    `SELECT proname AS name, pg_get_userbyid(proowner) AS owner,
      NOT prosecdef OR coalesce(proconfig @> '{"search_path=memcell, pg_temp"}', false) AS is_safe
      FROM pg_proc WHERE pronamespace = 'memcell'::regnamespace`,
  );
  return rows.flatMap(({ name, owner, is_safe: isSafe }) =>
    stated([
      [owner === "memcell_owner", `function ${name} is ${owner}'s, allowed: memcell_owner's`],
      [isSafe, `function ${name} runs as its owner with the caller's search path`],
    ]),
  );
}
