/**
 * A server with two users who have sessions and streams open: alice, whose valid token the attacker has, and bob, the
 * attacker's target. A third user, gus, does not exist. Everything tried on bob is also tried on gus.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { shippedNames } from "../../support/test-plugin.ts";
import { audience, claimsOf, Forge, issuer } from "./forge.ts";
import { KeyTrap } from "./key-trap.ts";
import { Person } from "./person.ts";
import { ServedProcess } from "./served-process.ts";

/** The target of an attack. */
export interface Victim {
  readonly userId: string;
  /** The name of an entry that only the victim has. */
  readonly entry: string;
  /** The victim's live session. */
  readonly session: string;
  /** The victim's own expired token. */
  readonly expiredToken: string;
}

export const aliceBody = "Alice plans a trip to Lisbon.";
/** Texts that must never be in an answer. */
export const bobSecrets: readonly string[] = ["kumquat-body", "kumquat-description", "kumquat-plan"];

/** What every stream watches: the index and two entries of bob's. Alice has an entry with the name of one of them. */
const watched = ["memory://index", "memory://user-memory/entry/plan", "memory://user-memory/entry/bob-plan"];

/** One test sets the limit of requests per minute. All others use a high one. */
const rateFlag = "--requests-per-minute";

export class Stage implements AsyncDisposable {
  readonly forge: Forge;
  readonly dataDir: string;
  readonly logFile: string;
  readonly trap: KeyTrap;
  readonly server: ServedProcess;
  readonly alice: Person;
  readonly bob: Person;
  readonly #folder: Disposable;

  private constructor(forge: Forge, { folder, dataDir, logFile }: StagePlaces, parts: StageParts) {
    this.forge = forge;
    this.#folder = folder;
    this.dataDir = dataDir;
    this.logFile = logFile;
    this.trap = parts.trap;
    this.server = parts.server;
    this.alice = parts.alice;
    this.bob = parts.bob;
  }

  /** Adds `args` to those of a server with tokens. */
  static async open(args: readonly string[] = []): Promise<Stage> {
    const folder = temporaryFolder();
    const places = { folder, dataDir: join(folder.path, "data"), logFile: join(folder.path, "log", "audit.jsonl") };
    await remember(places.dataDir);
    const forge = new Forge();
    const keyFile = join(folder.path, "keys.json");
    writeFileSync(keyFile, await forge.keySet());
    const tokens = ["--issuer", issuer, "--audience", audience, "--jwks", keyFile];
    const rate = args.includes(rateFlag) ? [] : [rateFlag, "100000"];
    const server = await ServedProcess.start([...tokens, ...rate, ...args], places);
    const [alice, bob] = await Promise.all(
      ["alice", "bob"].map(async (userId) => new Person(server.port, await forge.tokenFor(userId))),
    );
    if (!alice || !bob) throw new Error("There are two users");
    await alice.open(watched);
    await bob.open(watched);
    return new Stage(forge, places, { server, alice, bob, trap: await KeyTrap.open() });
  }

  get victims(): { readonly bob: Victim; readonly ghost: Victim } {
    return { bob: this.#victim("bob", this.bob.session), ghost: this.#victim("gus", randomUUID()) };
  }

  #victim(userId: string, session: string): Victim {
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    const expiredToken = this.forge.issued({ ...claimsOf(userId), exp: yesterday });
    return { userId, entry: `${userId}-plan`, session, expiredToken };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.alice.close();
    this.bob.close();
    this.trap[Symbol.dispose]();
    await this.server.end();
    this.#folder[Symbol.dispose]();
  }
}

interface StagePlaces {
  readonly folder: ReturnType<typeof temporaryFolder>;
  readonly dataDir: string;
  readonly logFile: string;
}

type StageParts = Pick<Stage, "server" | "alice" | "bob" | "trap">;

/** What both users have at the start. */
export async function remember(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  const [secretBody = "", secretDescription = "", secretPlan = ""] = bobSecrets;
  const entries = [
    { userId: "alice", name: "plan", description: "where Alice goes", body: aliceBody },
    { userId: "bob", name: "plan", description: secretDescription, body: secretPlan },
    { userId: "bob", name: "bob-plan", description: secretDescription, body: secretBody },
  ];
  for (const { userId, ...entry } of entries) {
    const result = await runtime.call("UpdateUserMemory", { action: "upsert", type: "project", ...entry }, { userId });
    if (!result.ok) throw new Error(result.error.message);
  }
  const bob = { userId: "bob" };
  const plan = { command: "create", path: "/memories/plan", content: secretPlan };
  const note = { command: "put", namespace: "owner", key: "plan", content: secretBody };
  for (const result of [
    await runtime.call("memory", plan, bob),
    await runtime.callAsHost("stores/CallerNotes", note, bob),
  ]) {
    if (!result.ok) throw new Error(result.error.message);
  }
}
