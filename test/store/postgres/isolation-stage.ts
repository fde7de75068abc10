/** Two tenants in one database, and what each statement of the store gets of the other one. */
import pg from "pg";

import * as more from "../../../host/store/postgres/clock-and-run-statements.ts";
import { commitChange } from "../../../host/store/postgres/commit-statement.ts";
import { Database } from "../../../host/store/postgres/database.ts";
import type { HomePlace } from "../../../host/store/postgres/home-place.ts";
import * as statements from "../../../host/store/postgres/statements.ts";
import type { Statement } from "../../../host/store/postgres/statements.ts";
import { ToolError, digestOf, ownStoreOf } from "../../stage/store.ts";
import type { StoreId, UserId } from "../../stage/store.ts";
import { tables } from "../../support/postgres/fresh-database.ts";

export const [alice, bob] = ["alice", "bob"] as [UserId, UserId];
export const [own, others] = [ownStoreOf(alice), ownStoreOf(bob)];
const secret = "bob's secret";
const secretHash = digestOf(Buffer.from(secret)) ?? "";

/** The other statements; `enter` says who acts and reads nothing. */
type Asked = Exclude<keyof typeof statements, "enter"> | keyof typeof more | "commitChange";

/** How each statement asks for what is another tenant's. A new statement must be added here. */
const askingFor: Record<Asked, (place: HomePlace) => Statement> = {
  homeFacts: (place) => statements.homeFacts(place),
  firstFiles: (place) => statements.firstFiles(place, { scopes: null, filesMax: 10, bytesMax: 10_000 }),
  findFiles: (place) => statements.findFiles(place, [placeIn(place)], true),
  listFiles: (place) => statements.listFiles(place, placeIn(place).scope, ""),
  measureScope: (place) => statements.measureScope(place, placeIn(place).scope),
  listOrigins: (place) => statements.listOrigins(place),
  listVersions: (place) => statements.listVersions(place),
  agedBy: (place) => more.agedBy(place),
  noteAgedBy: (place) => more.noteAgedBy(place, "taken over"),
  listLowered: (place) => more.listLowered(place),
  keptContents: (place) => statements.keptContents(place, [secretHash]),
  acceptEdits: (place) => statements.acceptEdits(place),
  countChanges: (place) => statements.countChanges(place),
  listDamaged: (place) => statements.listDamaged(place),
  findChange: (place) => statements.findChange(place, changeId, 0),
  homeVersion: (place) => statements.homeVersion(place),
  // It fails if what it sees is different: here, if it sees anything.
  refuseChanged: ({ tenant }) => statements.refuseChanged(new Map([[tenant, ""]])),
  nameRecords: ({ tenant }) => statements.nameRecords(tenant, "pending"),
  readRecord: ({ tenant }) => statements.readRecord(tenant, "pending", "w"),
  writeRecord: ({ tenant }) => statements.writeRecord(tenant, "pending", "w", "taken over"),
  nameHome: (place) => statements.nameHome(place, bob),
  removeRecord: ({ tenant }) => statements.removeRecord(tenant, "pending", "w"),
  areRecords: ({ tenant }) => statements.areRecords(tenant, [{ kind: "pending", name: "w", text: secret }]),
  // Who has a memory is no secret to a host, and listed without a word of what is in it.
  listHomes: ({ kind }) => statements.listHomes(kind),
  listErased: () => statements.listErased(),
  erase: () => statements.erase("00000000-0000-4000-8000-000000000001", 1),
  forgetErased: ({ tenant }) => statements.forgetErased(tenant, changeId),
  isErased: ({ tenant }) => statements.isErased(tenant, changeId),
  listHints: ({ tenant }) => statements.listHints(tenant),
  leaveStore: ({ tenant }) => statements.leaveStore(tenant, own),
  comeBack: ({ tenant }) => statements.comeBack(tenant, third),
  countGrants: ({ tenant }) => statements.countGrants(tenant, own, 1),
  setGrants: ({ tenant }) =>
    statements.setGrants(tenant, {
      content: "",
      granted: [{ grantee: own, level: "readwrite", grantedMs: 1, expiresMs: null }],
      revoked: [third],
      nowMs: 1,
    }),
  forgetGrants: () => statements.forgetGrants(10),
  homeVersions: ({ tenant }) => statements.homeVersions([tenant]),
  tellChanged: () => statements.tellChanged("memcell_changes", ["x"]),
  commitChange: (place) => changeOf(place, "taken over"),
};

export const askedStatements = Object.keys(askingFor) as Asked[];

const changeId = "00000000-0000-4000-8000-00000000abcd";
const third = "33333333-0000-4000-8000-000000000000" as StoreId;
const placeIn = ({ kind }: HomePlace): { scope: string; path: string } => ({
  scope: kind === "user" ? "memory" : "entries",
  path: "a.md",
});

function changeOf(place: HomePlace, text: string): Statement {
  const content = Buffer.from(text);
  const sha256 = digestOf(content) ?? "";
  return commitChange(place, {
    id: changeId,
    userId: null,
    seen: [],
    gone: [],
    put: [
      {
        ...placeIn(place),
        sha256,
        bytes: content.length,
        content,
        origin: { seq: 1, sha256, class: "unstated", trust: "unstated", atMs: 0 },
      },
    ],
    forgotten: [secretHash],
    lines: [`{"line":"${text}"}`],
    head: { seq: 1, hash: "h" },
    agedMs: null,
    keptBytesMax: 1_000_000,
  });
}

/** A host with one connection, so that all that it does goes over the same one. */
export class IsolationStage implements AsyncDisposable {
  readonly database: Database;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    const setup = { isRelaxed: false, clock: () => 1, connectionsMax: 1, note: () => {} };
    this.database = new Database({ url, ...setup });
  }

  /** Bob has something in every table. */
  async fill(): Promise<void> {
    await this.as(others, true, [
      changeOf({ tenant: others, kind: "user" }, secret),
      changeOf({ tenant: others, kind: "store" }, secret),
      statements.writeRecord(others, "pending", "w", secret),
      statements.setGrants(others, {
        content: "",
        granted: [{ grantee: third, level: "read", grantedMs: 1, expiresMs: null }],
        nowMs: 1,
      }),
    ]);
    await this.as(third, true, [
      statements.setGrants(third, {
        content: "",
        granted: [{ grantee: others, level: "read", grantedMs: 1, expiresMs: null }],
        nowMs: 1,
      }),
    ]);
    await this.as(others, true, [statements.leaveStore(others, third)]);
  }

  async as(who: StoreId, commits: boolean, asked: readonly Statement[]): Promise<statements.Row[][]> {
    const acting = { who, locks: [], isReadOnly: false, until: performance.now() + 10_000 };
    return await this.database.act(acting, naming, (transaction) =>
      commits ? transaction.commit(...asked) : transaction.ask(...asked),
    );
  }

  /** Everything that is Bob's, as an administrator sees it. */
  async all(adminUrl: string): Promise<string> {
    const admin = new pg.Client({ connectionString: adminUrl });
    await admin.connect();
    try {
      const found: string[] = [];
      for (const table of tables) {
        const { rows } = await admin.query(`SELECT * FROM memcell.${table} WHERE tenant <> $1 ORDER BY 1, 2`, [own]);
        found.push(JSON.stringify([table, rows]));
      }
      return found.join("\n");
    } finally {
      await admin.end();
    }
  }

  /** The statements by which Alice gets, or changes, something of Bob's. `afterError`: each on a failed connection. */
  async leaks(adminUrl: string, afterError: boolean): Promise<string[]> {
    const leaks: string[] = [];
    const before = await this.all(adminUrl);
    for (const name of askedStatements) {
      for (const kind of ["user", "store"] as const) {
        if (afterError) await this.#fail();
        const asked = askingFor[name]({ tenant: others, kind });
        const shown = await this.as(own, true, [asked]).catch(codeOf);
        if (showsOthers(name, shown)) leaks.push(`${name} of ${kind}`);
      }
      if ((await this.all(adminUrl)) !== before) leaks.push(`${name} changes`);
    }
    return leaks;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.close();
  }

  get url(): string {
    return this.#url;
  }

  /** Bob's own call fails in the database. */
  async #fail(): Promise<void> {
    const asked = [statements.nameRecords(others, "pending"), { text: "SELECT 1 / 0", values: [] }];
    await this.as(others, false, asked).catch(codeOf);
  }
}

/** Who has a memory, how often it was changed, and how many grants a grantee has, a host may know. An empty row says nothing of anybody. */
const ofEverybody: ReadonlySet<string> = new Set([
  "listHomes",
  "listErased",
  "countGrants",
  "homeVersions",
  "tellChanged",
]);

function showsOthers(name: string, shown: statements.Row[][] | string): boolean {
  if (name === "refuseChanged") return shown === "BUSY";
  if (typeof shown === "string" || ofEverybody.has(name)) return JSON.stringify(shown).includes(secret);
  const values = shown.flat().flatMap((row) => Object.entries(row));
  return values.some((each) => !isAsked(each)) || (values.length === 0 && shown.flat().length > 0);
}

const isAsked = ([key, value]: readonly [string, unknown]): boolean =>
  value === null || value === "" || key === "scope" || key === "path";

const codeOf = (error: unknown): string => (error instanceof ToolError ? error.code : String(error));

const naming = { action: "test", tooLong: (): ToolError => new ToolError("BUSY", "too long") };
