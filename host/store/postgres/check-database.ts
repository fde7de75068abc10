/** Whether a database is as the migrations have left it: version, roles, flags, ownership and rights. */
import { counted } from "../../../shared/text.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Client } from "./client.ts";
import { migrations, ownerRole, plainBegin, refuseNewer, sqlOf } from "./migrate.ts";

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
  await client.query(plainBegin("READ ONLY"));
  try {
    return await findingsOf(client);
  } finally {
    await client.query("ROLLBACK").catch(() => {});
  }
}

async function findingsOf(client: Client): Promise<DatabaseFinding[]> {
  const missing = await missingMigrations(client);
  if (missing.length > 0) return [`${missing.join(", ")} is not applied, run memcell db migrate`];
  const findings: DatabaseFinding[] = [];
  for (const check of [checkRole, checkOwner, checkTables, checkPolicies, checkViews, checkFunctions]) {
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

/** Roles of the server's own that reach all rows, or the server's files. */
const mightyRoles = [
  "pg_execute_server_program",
  "pg_maintain",
  "pg_read_all_data",
  "pg_read_server_files",
  "pg_write_all_data",
  "pg_write_server_files",
];

/** What would bypass the policies. */
async function checkRole(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{
    login: string;
    reaches: string | null;
    owns: boolean;
    makes: boolean;
    is_app: boolean;
    is_utf8: boolean;
  }>(
    `SELECT session_user AS login,
      (SELECT r.rolname FROM pg_roles r
        WHERE (r.rolsuper OR r.rolbypassrls OR r.rolreplication OR r.rolcreaterole OR r.rolname = ANY ($1))
          AND pg_has_role(session_user, r.oid, 'MEMBER')
        ORDER BY r.rolname <> session_user, r.rolname LIMIT 1) AS reaches,
      current_setting('server_encoding') = 'UTF8' AS is_utf8,
      pg_has_role(session_user, 'memcell_owner', 'MEMBER') AS owns,
      has_schema_privilege(session_user, 'memcell', 'CREATE') AS makes,
      pg_has_role(session_user, 'memcell_app', 'MEMBER') AS is_app`,
    [mightyRoles],
  );
  return rows.flatMap(({ login, reaches, owns, makes, is_app: isApp, is_utf8: isUtf8 }) =>
    stated([
      [isUtf8, "the database has another encoding than UTF8"],
      [reaches === null, `role ${login} is or can become ${reaches}, which can bypass row-level security`],
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
  const { rows: schemas } = await client.query<{ owner: string }>(
    "SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = 'memcell'",
  );
  return [
    ...rows.map(({ rolname }) => `role ${rolname} can do more than it may: LOGIN, SUPERUSER, BYPASSRLS or CREATEROLE`),
    ...schemas.flatMap(({ owner }) =>
      stated([[owner === ownerRole, `the schema is ${owner}'s, allowed: ${ownerRole}'s`]]),
    ),
  ];
}

async function checkTables(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{
    name: string;
    is_on: boolean;
    owner: string;
    empties: boolean;
    changes: boolean;
    has_trigger: boolean;
  }>(
    `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS is_on, pg_get_userbyid(c.relowner) AS owner,
      has_table_privilege(session_user, c.oid, 'TRUNCATE, TRIGGER') AS empties,
      has_table_privilege(session_user, c.oid, 'DELETE') OR has_any_column_privilege(session_user, c.oid, 'UPDATE') AS changes,
      EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) AS has_trigger
      FROM pg_class c WHERE c.relnamespace = 'memcell'::regnamespace AND c.relkind IN ('r', 'p')`,
  );
  return rows.flatMap(({ name, is_on: isOn, owner, empties, changes, has_trigger: hasTrigger }) =>
    stated([
      [isOn, `table ${name} has no forced row-level security`],
      [owner === ownerRole, `table ${name} is ${owner}'s, allowed: ${ownerRole}'s`],
      [!empties, `the host's role has TRUNCATE or TRIGGER on ${name}, which row-level security does not cover`],
      [name !== "changes" || !changes, "the host's role can change the history"],
      [!hasTrigger, `table ${name} has a trigger`],
    ]),
  );
}

/** Their expressions are not compared, which each version of PostgreSQL writes in its own way. */
async function checkPolicies(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string; is_known: boolean }>(
    `SELECT tablename || '.' || policyname AS name,
      roles = '{memcell_owner}' OR tablename = 'migrations' AND cmd = 'SELECT' OR
      coalesce(qual, with_check) ~ 'principal"?\\(\\)' AND coalesce(with_check, qual) ~ 'principal"?\\(\\)' AS is_known
      FROM pg_policies WHERE schemaname = 'memcell'`,
  );
  return rows.flatMap(({ name, is_known: isKnown }) => stated([[isKnown, `policy ${name} does not ask who acts`]]));
}

async function checkViews(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'memcell'::regnamespace
      AND (relkind = 'm' OR relkind = 'v' AND NOT coalesce(reloptions @> '{security_invoker=true}', false))`,
  );
  return rows.map(({ name }) => `view ${name} bypasses row-level security, allowed: with security_invoker`);
}

async function checkFunctions(client: Client): Promise<DatabaseFinding[]> {
  const { rows } = await client.query<{ name: string; owner: string; is_safe: boolean; source: string }>(
    `SELECT proname AS name, prosrc AS source, pg_get_userbyid(proowner) AS owner,
      NOT prosecdef OR coalesce(proconfig @> '{"search_path=memcell, pg_temp"}', false) AS is_safe
      FROM pg_proc WHERE pronamespace = 'memcell'::regnamespace`,
  );
  const findings = rows.flatMap(({ name, owner, is_safe: isSafe }) =>
    stated([
      [owner === ownerRole, `function ${name} is ${owner}'s, allowed: ${ownerRole}'s`],
      [isSafe, `function ${name} runs as its owner with the caller's search path`],
    ]),
  );
  const written = (await Promise.all(migrations.map(sqlOf))).join("");
  const others = rows.filter(({ source }) => !written.includes(source));
  return [...findings, ...others.map(({ name }) => `function ${name} is not as the migrations have made it`)];
}
