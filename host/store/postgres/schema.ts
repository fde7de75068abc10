/** Plain SQL files make what a database must have. Applies them, and checks that it is as they have left it. */
import { counted } from "../../../shared/text.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { packageFile } from "../../values/package-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Client } from "./connections.ts";
import { sql } from "./statement.ts";
import type { Statement } from "./statement.ts";

/**
 * In the order in which they are applied. A file that was released is never changed. The first one makes what belongs to
 * the server. All others run as the owner of the tables.
 */
const migrations = [
  "0001-roles",
  "0002-tables",
  "0003-policies",
  "0004-changes",
  "0005-reads",
  "0006-listings",
  "0007-rights",
  "0008-settings-and-runs",
];

const becomeOwner = "SET LOCAL ROLE memcell_owner";
const migrationsTable = `CREATE TABLE memcell.migrations (
    name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/** Applies the files that are missing, and returns their names. Throws `STORAGE_FAILED` if the database is newer. */
export async function migrate(client: Client): Promise<string[]> {
  await client.query(plainBegin("READ WRITE"));
  try {
    // Two migrations at a time wait for each other.
    await client.query("SELECT pg_advisory_xact_lock(7308604896)");
    const { rows } = await client.query<{ has: boolean }>(
      "SELECT to_regclass('memcell.migrations') IS NOT NULL AS has",
    );
    if (rows[0]?.has === true) await client.query(becomeOwner);
    const missing = rows[0]?.has === true ? await missingMigrations(client) : migrations;
    for (const name of missing) {
      await client.query(await sqlOf(name));
      if (name === "0001-roles") await client.query(`${becomeOwner}; ${migrationsTable}`);
      await client.query("INSERT INTO memcell.migrations (name) VALUES ($1)", [name]);
    }
    await client.query("COMMIT");
    return [...missing];
  } catch (error) {
    // Of a lost connection, the server takes everything back itself.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Begins a transaction on the administrator's connection, whatever its role and its database have as defaults. */
const plainBegin = (access: "READ WRITE" | "READ ONLY"): string =>
  `BEGIN ISOLATION LEVEL READ COMMITTED ${access};
  SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL row_security = on; SET LOCAL standard_conforming_strings = on;
  SET LOCAL default_tablespace = ''; SET LOCAL default_table_access_method = heap`;

async function missingMigrations(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>("SELECT name FROM memcell.migrations ORDER BY name");
  const applied = rows.map(({ name }) => name);
  const unknown = applied.filter((name) => !migrations.includes(name));
  if (unknown.length > 0) {
    throw new ToolError("STORAGE_FAILED", `Cannot use the database: it is newer, it has ${unknown.join(", ")}`);
  }
  return migrations.filter((name) => !applied.includes(name));
}

async function sqlOf(name: string): Promise<string> {
  const file = await readBoundedFile(packageFile(`host/store/postgres/migrations/${name}.sql`), 1024 * 1024);
  if (file.kind === "unfit") throw new RangeError(`Cannot use ${name}.sql: ${file.reason}`);
  return Buffer.from(file.bytes).toString("utf8");
}

/** Throws `STORAGE_FAILED` if the database or the role that the client has logged in as is not fit for a host. */
export async function refuseUnfit(client: Client): Promise<void> {
  const [first, ...others] = await checkDatabase(client);
  if (first === undefined) return;
  const more = others.length === 0 ? "" : `, and ${counted(others.length, "more finding")}`;
  throw new ToolError("STORAGE_FAILED", `Cannot use the database: ${first}${more}; see memcell db check`);
}

/**
 * What is not as it must be, each as a sentence without its end, for the role that the client has logged in as. Throws
 * `STORAGE_FAILED` if the database is newer than this host.
 */
export async function checkDatabase(client: Client): Promise<string[]> {
  await client.query(plainBegin("READ ONLY"));
  try {
    const { rows: found } = await client.query<{ can: boolean }>(
      "SELECT coalesce(has_schema_privilege(oid, 'USAGE'), false) AS can FROM pg_namespace WHERE nspname = 'memcell'",
    );
    if (found[0]?.can === false) {
      throw new ToolError("STORAGE_FAILED", "Cannot use the database: the role is no member of memcell_app");
    }
    const missing = found[0] === undefined ? migrations : await missingMigrations(client);
    if (missing.length > 0) return [`${missing.join(", ")} is not applied, run memcell db migrate`];
    const written = (await Promise.all(migrations.map(sqlOf))).join("");
    const findings: string[] = [];
    for (const check of [ofRole, ofOwner, ofTables, ofPolicies, ofViews, ofFunctions(written)]) {
      const { rows } = await client.query<{ finding: string }>(check);
      findings.push(...rows.map(({ finding }) => finding));
    }
    return findings;
  } finally {
    await client.query("ROLLBACK").catch(() => {});
  }
}

/** What would bypass the policies: roles of the server's own, too, that reach all rows, or the server's files. */
const ofRole = sql`SELECT finding FROM (
    SELECT session_user AS login, (
      SELECT r.rolname FROM pg_roles r
      WHERE pg_has_role(session_user, r.oid, 'MEMBER') AND (
        r.rolsuper OR r.rolbypassrls OR r.rolreplication OR r.rolcreaterole OR r.rolname IN (
          'pg_execute_server_program', 'pg_maintain', 'pg_read_all_data', 'pg_read_server_files', 'pg_write_all_data',
          'pg_write_server_files'
        )
      )
      ORDER BY r.rolname <> session_user, r.rolname LIMIT 1
    ) AS reached, pg_has_role(session_user, 'memcell_owner', 'MEMBER') AS owns
  ) AS role, LATERAL (VALUES
    (current_setting('server_encoding') <> 'UTF8', 'the database has another encoding than UTF8'),
    (reached IS NOT NULL,
      format('role %s is or can become %s, which can bypass row-level security', login, reached)),
    (owns, format('role %s can become memcell_owner, allowed: a member of memcell_app alone', login)),
    (has_schema_privilege(login, 'memcell', 'CREATE') AND NOT owns,
      format('role %s can create in the schema memcell', login)),
    (NOT pg_has_role(login, 'memcell_app', 'MEMBER'), format('role %s is no member of memcell_app', login))
  ) AS f (is_found, finding) WHERE is_found`;

const ofOwner = sql`
  SELECT format('role %s can do more than it may: LOGIN, SUPERUSER, BYPASSRLS or CREATEROLE', rolname) AS finding
    FROM pg_roles WHERE rolname IN ('memcell_owner', 'memcell_app') AND (rolsuper OR rolbypassrls OR rolcreaterole)
      OR rolname = 'memcell_owner' AND rolcanlogin
  UNION ALL
  SELECT format('the schema is %s''s, allowed: memcell_owner''s', pg_get_userbyid(nspowner))
    FROM pg_namespace WHERE nspname = 'memcell' AND pg_get_userbyid(nspowner) <> 'memcell_owner'`;

const ofTables = sql`SELECT finding FROM pg_class c, pg_get_userbyid(c.relowner) AS owner, LATERAL (VALUES
    (NOT (relrowsecurity AND relforcerowsecurity), format('table %s has no forced row-level security', relname)),
    (owner <> 'memcell_owner', format('table %s is %s''s, allowed: memcell_owner''s', relname, owner)),
    (has_table_privilege(session_user, c.oid, 'TRUNCATE, TRIGGER'), format(
      'the host''s role has TRUNCATE or TRIGGER on %s, which row-level security does not cover', relname
    )),
    (relname = 'changes' AND (
      has_table_privilege(session_user, c.oid, 'DELETE') OR has_any_column_privilege(session_user, c.oid, 'UPDATE')
    ), 'the host''s role can change the history'),
    (EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
      format('table %s has a trigger', relname))
  ) AS f (is_found, finding)
  WHERE relnamespace = 'memcell'::regnamespace AND relkind IN ('r', 'p') AND is_found`;

/** Their expressions are not compared, which each version of PostgreSQL writes in its own way. */
const ofPolicies = sql`SELECT format('policy %s.%s does not ask who acts', tablename, policyname) AS finding
  FROM pg_policies WHERE schemaname = 'memcell' AND (
    roles = '{memcell_owner}' OR tablename = 'migrations' AND cmd = 'SELECT' OR
    coalesce(qual, with_check) ~ 'principal"?\\(\\)' AND coalesce(with_check, qual) ~ 'principal"?\\(\\)'
  ) IS NOT TRUE`;

const ofViews = sql`
  SELECT format('view %s bypasses row-level security, allowed: with security_invoker', relname) AS finding
  FROM pg_class WHERE relnamespace = 'memcell'::regnamespace
    AND (relkind = 'm' OR relkind = 'v' AND NOT coalesce(reloptions @> '{security_invoker=true}', false))`;

const ofFunctions = (written: string): Statement => sql`
  SELECT finding FROM pg_proc, pg_get_userbyid(proowner) AS owner, LATERAL (VALUES
    (owner <> 'memcell_owner', format('function %s is %s''s, allowed: memcell_owner''s', proname, owner)),
    (prosecdef AND NOT coalesce(proconfig @> '{"search_path=memcell, pg_temp"}', false),
      format('function %s runs as its owner with the caller''s search path', proname)),
    (strpos(${written}, prosrc) = 0, format('function %s is not as the migrations have made it', proname))
  ) AS f (is_found, finding)
  WHERE pronamespace = 'memcell'::regnamespace AND is_found`;
