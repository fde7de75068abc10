/** What a database has of the calls of hosts that were killed. */
import { hash } from "node:crypto";

import type pg from "pg";

import { parseLine } from "../../../host/store/versions/version-line.ts";

interface Found {
  /** By the body of a call: how many versions have brought it. */
  readonly versionsOf: Map<string, number>;
  /** What is not whole: in words, for the failure of a test. */
  readonly broken: string[];
}

/** `admin` bypasses the policies. */
export async function foundIn(admin: pg.Client): Promise<Found> {
  const found: Found = { versionsOf: new Map(), broken: [] };
  const { rows } = await admin.query<Home>("SELECT tenant, seq::int, hash, commits::int FROM memcell.homes");
  for (const home of rows) await findInHome(admin, home, found);
  return found;
}

interface Home {
  readonly tenant: string;
  readonly seq: number;
  readonly hash: string;
  readonly commits: number;
}

async function findInHome(admin: pg.Client, home: Home, { versionsOf, broken }: Found): Promise<void> {
  const { tenant } = home;
  const changes = await admin.query<{ commit_no: number; lines: string[] }>(
    "SELECT commit_no::int, lines FROM memcell.changes WHERE tenant = $1 ORDER BY commit_no",
    [tenant],
  );
  const bodies = await bodiesIn(admin, tenant);
  const last = new Map<string, string | null>();
  let [seq, prev] = [0, "0".repeat(64)];
  for (const line of changes.rows.flatMap(({ lines }) => lines)) {
    const version = parseLine(line);
    if (version?.seq !== seq + 1 || version.prev !== prev) broken.push(`version ${seq + 1} of ${tenant}`);
    seq++;
    prev = hash("sha256", line);
    for (const { path, before, sha256 } of version?.files ?? []) {
      if (before !== (last.get(path) ?? null)) broken.push(`${path} before version ${seq} of ${tenant}`);
      last.set(path, sha256);
      const body = path === "MEMORY.md" ? undefined : bodies.get(sha256 ?? "");
      if (path !== "MEMORY.md" && body === undefined) broken.push(`the content of version ${seq} of ${tenant}`);
      if (body !== undefined) versionsOf.set(body, (versionsOf.get(body) ?? 0) + 1);
    }
  }
  if (seq !== home.seq || prev !== home.hash) broken.push(`the end of the history of ${tenant}`);
  const isCounted = changes.rows.every((row, at) => row.commit_no === at + 1) && changes.rows.length === home.commits;
  if (!isCounted) broken.push(`the change sets of ${tenant}`);
  if (JSON.stringify(await filesIn(admin, tenant)) !== JSON.stringify([...last].toSorted(byPath)))
    broken.push(`the files of ${tenant}`);
}

/** By the hash of an entry's file. */
async function bodiesIn(admin: pg.Client, tenant: string): Promise<Map<string, string>> {
  const { rows } = await admin.query<{ sha256: string; text: string }>(
    `SELECT encode(sha256, 'hex') AS sha256, convert_from(content, 'UTF8') AS text FROM memcell.contents
      WHERE tenant = $1 AND is_kept`,
    [tenant],
  );
  return new Map(rows.flatMap(({ sha256, text }) => (text.startsWith("---") ? [[sha256, bodyOf(text)] as const] : [])));
}

const bodyOf = (text: string): string => text.split("\n---\n").at(-1)?.trim() ?? "";

async function filesIn(admin: pg.Client, tenant: string): Promise<[string, string][]> {
  const { rows } = await admin.query<{ path: string; sha256: string }>(
    "SELECT path, encode(sha256, 'hex') AS sha256 FROM memcell.files WHERE tenant = $1",
    [tenant],
  );
  return rows.map(({ path, sha256 }): [string, string] => [path, sha256]).toSorted(byPath);
}

const byPath = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
