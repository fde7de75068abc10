/** Copies everything from one store to another, home by home. A run that was interrupted is completed by another one. */
import { hash } from "node:crypto";

import { counted } from "../../shared/text.ts";
import { readGrants } from "../sharing/grants.ts";
import type { Engine, EngineHold, EngineHomes } from "../store/engine.ts";
import type { HomeDump, HomePiece } from "../store/home-dump.ts";
import { grantsPath, grantsScope, storeHome, userHome } from "../store/home.ts";
import type { Home } from "../store/home.ts";
import { Store } from "../store/store.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { ToolError, orInstead } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";

interface CopyWay {
  /** Both can be copied. */
  readonly from: Engine;
  readonly to: Engine;
  /** How long to wait for a home that others use. */
  readonly waitMs: number;
  /** `state`: in the host's own words. */
  readonly onProgress: (state: string) => void;
}

export interface CopyReport {
  readonly copied: number;
  /** Homes that were at the target already. */
  readonly same: number;
  readonly bytes: number;
  /** What whoever copies has to know of a home: a user's id, or `stores/<id>`. Can contain any character. */
  readonly told: readonly { readonly home: string; readonly told: string }[];
}

/** Throws `BUSY` if an erasure is not finished on either side. */
export async function copyStores(way: CopyWay): Promise<CopyReport> {
  const { from, to } = way;
  for (const [option, { erased }] of Object.entries({ from, to })) {
    if ((await erased.list()).length === 0) continue;
    // A copy would take what others have granted an erased user for grants of today.
    const why = `in --${option}, an erasure is not finished, any host that starts there finishes it`;
    throw new ToolError("BUSY", `Cannot copy: ${why}`);
  }
  // Also removes what a copy has left there that was killed.
  await to.retireLeftOver?.();
  const run = new CopyRun(way);
  for (const { path, message } of (await from.strays?.()) ?? []) run.tell(path, `left out: ${message}`);
  const homes = await homesIn(from);
  await run.each(homes, "copied", "not copied", (home) => run.copy(home));
  const leaving = ((await from.leaving?.()) ?? []).map(storeHome);
  await run.each(leaving, "looked at again", "what it leaves out is not copied", (home) => run.copyLeft(home));
  // An edit by hand leaves no other mark.
  await run.each(homes, "compared", "not compared again", (home) => run.compare(home));
  const known = new Set(homes.map(shown));
  const added = (await homesIn(from)).map(shown).filter((home) => !known.has(home));
  for (const home of added) run.tell(home, "made meanwhile, not copied");
  return run.report;
}

/** Sorted. */
async function homesIn(engine: Engine): Promise<Home[]> {
  const found = (await engine.homes()).map((home) => (home.kind === "user" ? userHome(home.id) : storeHome(home.id)));
  return found.toSorted((a, b) => (shown(a) < shown(b) ? -1 : 1));
}

/** No user's id has a slash. */
const shown = ({ kind, id }: Home): string => (kind === "user" ? id : `stores/${id}`);

/** Returns what whoever copies has to know. */
type Work = (home: Home) => Promise<readonly string[]>;

/** Such as a full disk, or a database that cannot be reached. */
const ofAllHomes: ReadonlySet<string> = new Set(["STORAGE_FULL", "STORAGE_BUSY", "INTERNAL"]);

class CopyRun {
  readonly #way: CopyWay;
  readonly report = { copied: 0, same: 0, bytes: 0, told: [] as CopyReport["told"][number][] };
  /** What the source had of each home that is at the target. */
  readonly #digests = new Map<string, string>();

  constructor(way: CopyWay) {
    this.#way = way;
  }

  tell(home: string, told: string): void {
    this.report.told.push({ home, told });
  }

  /** Does work on homes, and tells what it has found, or why it has failed. What fails all homes ends the run. */
  async each(homes: readonly Home[], done: string, failed: string, work: Work): Promise<void> {
    for (const [at, home] of homes.entries()) {
      this.#way.onProgress(`${at} of ${counted(homes.length, "home")} ${done}`);
      const told = await work(home).catch((error: unknown) => {
        if (error instanceof ToolError && !ofAllHomes.has(error.code)) return [`${failed}: ${error.message}`];
        throw error;
      });
      for (const text of told) this.tell(shown(home), text);
    }
  }

  copy(home: Home): Promise<readonly string[]> {
    const { from, to } = this.#way;
    return from.hold([home], "read", this.#hold, async (held) => {
      const source = await passing(held, home);
      if (source === null) return [];
      const isCopied = await to.hold([home], "write", this.#hold, async (target) =>
        target.load?.(home, source.dump, () => source.grants),
      );
      const digest = await source.digest();
      const why = isCopied
        ? "not copied as it is: the target's differs from it"
        : "not copied: the target has another one";
      if ((await this.#digestIn(to, home)) !== digest) return [...source.leftOut, why];
      this.#digests.set(shown(home), digest);
      this.report[isCopied ? "copied" : "same"]++;
      if (isCopied) this.report.bytes += source.bytes;
      return source.leftOut;
    });
  }

  /** Looks again for changes at the source, if the home is at the target. */
  async compare(home: Home): Promise<readonly string[]> {
    const before = this.#digests.get(shown(home));
    const isSame = before === undefined || (await this.#digestIn(this.#way.from, home)) === before;
    return isSame ? [] : ["edited meanwhile"];
  }

  /** Copies which stores a principal leaves out. What a killed run has begun is completed: each counts for itself. */
  async copyLeft(home: Home): Promise<readonly string[]> {
    const { from, to } = this.#way;
    const left = await from.hold([home], "read", this.#hold, (held) => held.of(home).recordSizes("left"));
    return await new Store(to).hold([home], "write", this.#hold, async (held) => {
      const { records } = held.of(home);
      const there = await records.names("left");
      for (const store of left.keys()) if (!there.includes(store)) await records.write("left", store, "");
      await records.commit();
      return there.every((store) => left.has(store)) ? [] : ["the target leaves out more stores"];
    });
  }

  /** `null` if there is no home. */
  #digestIn(engine: Engine, home: Home): Promise<string | null> {
    return engine.hold([home], "read", this.#hold, async (held) => (await passing(held, home))?.digest() ?? null);
  }

  get #hold(): EngineHold {
    return { until: performance.now() + this.#way.waitMs, makesLocks: true };
  }
}

/** `null` if there is no home. */
async function passing(held: EngineHomes, home: Home): Promise<PassingHome | null> {
  const dump = await held.of(home).dump?.();
  if (dump === undefined) throw new RangeError("The homes of this store cannot be copied");
  return dump && new PassingHome(home, dump);
}

/** What a copy of a home has in common with it, in the order in which it is hashed. Grants are a file. */
const compared = "kind unknown creator scope path sha256 writtenUs origin seq class trust atMs line of name text".split(
  " ",
);

/** A home of which is noted what passes. */
class PassingHome {
  readonly dump: HomeDump;
  /** Of what is compared: it can come in another order, or again. */
  readonly #hashes = new Set<string>();
  readonly leftOut: string[] = [];
  /** A content that several files or versions have can count once for each. */
  bytes = 0;
  grants: readonly StoreGrant[] = [];

  constructor(home: Home, dump: HomeDump) {
    this.dump = { ...dump, pieces: this.#pass(home, dump.pieces) };
    this.#add(dump);
  }

  /** Takes the pieces that nobody has taken. */
  async digest(): Promise<string> {
    for await (const _ of this.dump.pieces);
    return hash("sha256", [...this.#hashes].toSorted().join());
  }

  async *#pass({ kind }: Home, pieces: HomeDump["pieces"]): AsyncGenerator<HomePiece> {
    for await (const piece of pieces) {
      await giveTurn();
      if (piece.kind === "left out") this.leftOut.push(`left out: ${piece.path}: ${piece.reason}`);
      else if (piece.kind !== "gone") this.#add(piece);
      if ("content" in piece) this.bytes += piece.bytes;
      // A file that no host has written grants nobody anything where it is, either.
      if (piece.kind === "file" && kind === "store" && piece.scope === grantsScope && piece.path === grantsPath)
        this.grants = orInstead(() => readGrants(piece.content), [], "STORAGE_UNSAFE");
      yield piece;
    }
  }

  #add(part: HomeDump | HomePiece): void {
    this.#hashes.add(hash("sha256", JSON.stringify(part, compared)));
  }
}
