/** Real PostgreSQL servers for tests. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";

import { freshData } from "./fresh-data.ts";
import type { PostgresVersion } from "./programs.ts";
import { runServer, type ServerProcess } from "./server-process.ts";
import { serverFolder } from "./server-user.ts";

export interface PostgresOptions {
  /** Default: `embedded`. */
  readonly version?: PostgresVersion;
  /** Whether a commit waits for the disk. Default: `false`; a test that cuts the power needs `true`. */
  readonly fsync?: boolean;
  /** Default: 100. */
  readonly maxConnections?: number;
  /** By their names in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder in which the server's own is made. Default: that of temporary files. */
  readonly above?: string;
}

/**
 * Starts a server with empty databases, reachable only through a socket in its own folder. It ends with its block or
 * with this process.
 *
 * @throws if no server can be started
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = serverFolder(options.above);
  try {
    const data = join(folder.path, "data");
    const programs = await freshData(options.version ?? "embedded", data, folder.path);
    const command = [join(programs, "postgres"), "-D", data, ...settingsOf(options, folder.path)];
    const server = new PostgresServer(folder, command);
    await server.start();
    return server;
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

const port = "5432";

function settingsOf({ fsync = false, maxConnections = 100, settings }: PostgresOptions, folder: string): string[] {
  const all = {
    listen_addresses: "",
    unix_socket_directories: folder,
    port,
    fsync: fsync ? "on" : "off",
    max_connections: `${maxConnections}`,
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

export class PostgresServer implements AsyncDisposable {
  readonly #folder: Disposable & { readonly path: string };
  readonly #command: readonly string[];
  readonly #log: string;
  #process: ServerProcess | null = null;

  constructor(folder: Disposable & { readonly path: string }, command: readonly string[]) {
    this.#folder = folder;
    this.#command = command;
    this.#log = join(folder.path, "log");
  }

  /** Starts the server on the data that it had when it stopped. */
  async start(): Promise<void> {
    if (this.#process?.isRunning) throw new Error("The server is running already");
    this.#process = await runServer(this.#command, this.#folder.path, this.#log);
  }

  /** Starts it as the standby of a server that is away: it only reads. */
  async startAsStandby(): Promise<void> {
    writeFileSync(join(this.#folder.path, "data", "standby.signal"), "");
    await this.start();
  }

  /** `fast` writes everything to the disk first, `immediate` leaves that to the next start, like a crash. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    await this.#process?.end(mode === "fast" ? "SIGINT" : "SIGQUIT");
  }

  /** The main process of the server, or of the last one if it has stopped. */
  get pid(): number {
    if (this.#process === null) throw new Error("The server has not started");
    return this.#process.pid;
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

  async createDatabase(name: string): Promise<void> {
    const client = await this.connect();
    try {
      await client.query(`create database ${client.escapeIdentifier(name)}`);
    } finally {
      await client.end();
    }
  }

  /** Everything that the server has logged since its first start. */
  logText(): string {
    return readFileSync(this.#log, "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("immediate");
    this.#folder[Symbol.dispose]();
  }
}
