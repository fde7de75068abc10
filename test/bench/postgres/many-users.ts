import { createRuntime, postgresStore } from "memcell";
import pg from "pg";

import { expectOk, upsertInput } from "../entry.ts";
import { median } from "../statistics.ts";

/** Fills a database as 100,000 users with ten entries each would have, and measures it. */
export async function fillWithUsers(adminUrl: string, users: number): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  for (const sql of fillings) await admin.query(sql, [users]);
  await admin.query("ANALYZE");
  await admin.end();
}

const tenant = "md5('user' || u)::uuid";
const body = "repeat('All that is known about it. ', 9) || e || u";
const content = `convert_to(${body}, 'UTF8')`;
const each = "FROM generate_series(1, $1::int) AS u, generate_series(1, 10) AS e";
const fillings = [
  `INSERT INTO memcell.homes (tenant, kind, user_id, scopes, commits, seq)
    SELECT ${tenant}, 'user', 'user' || u, '{memory}', 10, 10 FROM generate_series(1, $1::int) AS u`,
  `INSERT INTO memcell.contents (tenant, kind, sha256, content, commit_no)
    SELECT ${tenant}, 'user', sha256(${content}), ${content}, e ${each}`,
  `INSERT INTO memcell.files (tenant, kind, scope, path, sha256, bytes, changed_us, origin_seq, origin_sha256,
      origin_class, origin_trust, origin_ms)
    SELECT ${tenant}, 'user', 'memory', 'e' || e || '.md', sha256(${content}), octet_length(${content}), e, e,
      sha256(${content}), 'unstated', 'unstated', 1 ${each}`,
  `INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
    SELECT ${tenant}, 'user', e, gen_random_uuid(), array[repeat('{"a version":1}', 40)] ${each}`,
];

/** The median milliseconds of the first upsert and of the first read of users who were never there. */
export async function firstCalls(url: string): Promise<{ upsertMs: number; readMs: number }> {
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const [upserts, reads]: [number[], number[]] = [[], []];
  for (let at = -20; at < 100; at++) {
    const ctx = { userId: `new-${at}` };
    const beganMs = performance.now();
    await runtime.call("ReadUserMemory", { name: "a" }, ctx);
    const readMs = performance.now() - beganMs;
    await expectOk(runtime.call("UpdateUserMemory", upsertInput(1, 1), ctx));
    if (at < 0) continue;
    reads.push(readMs);
    upserts.push(performance.now() - beganMs - readMs);
  }
  return { upsertMs: median(upserts), readMs: median(reads) };
}

/** Mebibytes by table, with indexes. */
export async function sizesOf(adminUrl: string): Promise<ReadonlyMap<string, number>> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const { rows } = await admin.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
      WHERE relnamespace = 'memcell'::regnamespace AND relkind = 'r' ORDER BY 2 DESC`,
  );
  await admin.end();
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes) / 1024 / 1024]));
}
