/** Real PostgreSQL servers for tests. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";

import { freshData } from "./programs.ts";
import type { PostgresVersion } from "./programs.ts";
import { runAsServerUser, serverFolder } from "./server-user.ts";
import type { ServerFolder } from "./server-user.ts";

export interface PostgresOptions {
  /** Default: `embedded`. */
  readonly version?: PostgresVersion;
  /** By their names in `postgresql.conf`. Unless they say so, no commit waits for the disk. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder in which the server's own is made. Default: that of temporary files. */
  readonly above?: string;
}

const port = "5432";

/**
 * Starts a server with empty databases, reachable only through a socket in its own folder. It ends with its block or
 * with this process.
 *
 * @throws if no server can be started
 */
export async function startPostgres({ version = "embedded", settings, above }: PostgresOptions = {}) {
  const folder = serverFolder(above);
  try {
    const programs = await freshData(version, folder.path);
    const socket = { listen_addresses: "", unix_socket_directories: folder.path, port };
    const lines = Object.entries({ ...socket, fsync: "off", ...settings }).map(
      ([name, value]) => `${name} = '${value}'`,
    );
    appendFileSync(join(folder.path, "data/postgresql.conf"), `${lines.join("\n")}\n`);
    const server = new PostgresServer(folder, programs);
    await server.start();
    return server;
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

export class PostgresServer implements AsyncDisposable {
  readonly #folder: ServerFolder;
  readonly #programs: string;

  constructor(folder: ServerFolder, programs: string) {
    this.#folder = folder;
    this.#programs = programs;
  }

  /** Starts the server on the data that it had when it stopped. */
  async start(): Promise<void> {
    try {
      await this.#control("start", "-l", "log");
    } catch (cause) {
      throw new Error(`PostgreSQL does not start:\n${readFileSync(join(this.#folder.path, "log"), "utf8")}`, { cause });
    }
  }

  /** Starts it as the standby of a server that is away: it only reads. */
  async startAsStandby(): Promise<void> {
    writeFileSync(join(this.#folder.path, "data/standby.signal"), "");
    await this.start();
  }

  /** `fast` writes everything to the disk first, `immediate` leaves that to the next start, like a crash. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    if (existsSync(join(this.#folder.path, "data/postmaster.pid"))) await this.#control("stop", "-m", mode);
  }

  /** Returns when the server has started or ended. */
  async #control(action: "start" | "stop", ...more: readonly string[]): Promise<void> {
    await runAsServerUser(join(this.#programs, "pg_ctl"), [action, "-D", "data", ...more], this.#folder.path);
  }

  url(role = "postgres", database = "postgres"): string {
    const [user, name, host] = [role, database, this.#folder.path].map(encodeURIComponent);
    return `postgres://${user}@/${name}?host=${host}&port=${port}`;
  }

  /** The caller ends the client, or the end of the server does. */
  async connect(role?: string, database?: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(role, database) });
    // When a server ends, an idle client reports it by an event, which must not end the test. The next query fails.
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  /** Runs a statement as the administrator, who can do everything. */
  async run(statement: string, database?: string): Promise<pg.QueryResult> {
    const admin = await this.connect("postgres", database);
    try {
      return await admin.query(statement);
    } finally {
      await admin.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("immediate");
    this.#folder[Symbol.dispose]();
  }
}
