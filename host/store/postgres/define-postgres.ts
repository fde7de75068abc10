import { checkFields } from "../../values/known-fields.ts";
import { answerReads } from "../bridge/answer-reads.ts";
import type { StoreDefinition } from "../definition.ts";
import { defaultSettings } from "../definition.ts";
import { ChangeNews } from "./change-news.ts";
import { withClient } from "./connections.ts";
import { Database } from "./database.ts";
import { Holds, PostgresEngine } from "./postgres-engine.ts";
import { refuseUnfit } from "./schema.ts";

export interface PostgresStoreOptions {
  /** Where the database is, and as whom: `postgres://role:password@host/database`. Never shown. */
  readonly url: string;
  /** At most so many connections at a time; a call needs one while it runs. Default: 10. */
  readonly connectionsMax?: number | undefined;
  /**
   * `full`, the default: when a call's promise resolves, its changes are committed and survive a crash of the database.
   * `relaxed`: a crash of the database can lose the last changes, but none in part.
   */
  readonly durability?: "full" | "relaxed" | undefined;
}

/** A store for `createRuntime` in a PostgreSQL database, which several hosts can share. */
export function postgresStore(options: PostgresStoreOptions): StoreDefinition {
  checkFields("postgresStore", options, { url: true, connectionsMax: true, durability: true });
  const { url, connectionsMax = 10, durability = "full" } = options;
  if (typeof url !== "string" || !/^postgres(?:ql)?:\/\//.test(url)) {
    throw new TypeError("postgresStore needs a url that begins with postgres://");
  }
  if (!Number.isInteger(connectionsMax) || connectionsMax < 1 || connectionsMax > 1_000) {
    throw new RangeError(`connectionsMax is ${String(connectionsMax)}, allowed: a whole number from 1 to 1000`);
  }
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  const holds = new Holds();
  return {
    location: { kind: "postgres" },
    answerReads: (bridge) => answerReads((question) => holds.answer(question), bridge),
    checkMedium: () => withClient(url, refuseUnfit),
    open: (note, settings = defaultSettings) => {
      const [isRelaxed, { clock }] = [durability === "relaxed", settings];
      const database = new Database({ url, connectionsMax, isRelaxed, clock, note: (text) => note("database", text) });
      return new PostgresEngine({ database, news: new ChangeNews(database), holds, settings });
    },
    holdsFile: () => false,
  };
}
