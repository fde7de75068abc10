/** Copies everything from one store to another, home by home. A run that was interrupted is completed by another one. */
import { createHash } from "node:crypto";

import { counted } from "../../shared/text.ts";
import { readGrants } from "../sharing/grants.ts";
import type { Engine, EngineHold, EngineHomes } from "../store/engine.ts";
import type { HomeDump } from "../store/home-dump.ts";
import { grantsPath, grantsScope, storeHome, userHome } from "../store/home.ts";
import type { Home } from "../store/home.ts";
import { Store } from "../store/store.ts";
import { placeKey } from "../values/change-set.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";

interface CopyWay {
  /** Both can be copied. */
  readonly from: Engine;
  readonly to: Engine;
  /** How long to wait for a home that others use. */
  readonly waitMs: number;
  /** `state`: in the host's own words. */
  readonly onProgress: (state: string) => void;
}

/** Something about a home that whoever copies has to know. */
interface ToldHome {
  /** A user's id, or `stores/<id>`. Can contain any character. */
  readonly home: string;
  readonly told: string;
}

export interface CopyReport {
  readonly copied: number;
  /** Homes that were at the target already. */
  readonly same: number;
  readonly bytes: number;
  readonly told: readonly ToldHome[];
}

/** Throws `BUSY` if an erasure is not finished on either side. */
export async function copyStores(way: CopyWay): Promise<CopyReport> {
  const { from, to, onProgress } = way;
  await refuseErasures(from, "from");
  await refuseErasures(to, "to");
  // Also removes what a copy has left there that was killed.
  await to.retireLeftOver?.();
  const told: ToldHome[] = [];
  const tell = (home: string, texts: readonly string[]): void =>
    void told.push(...texts.map((text) => ({ home, told: text })));
  for (const { path, message } of (await from.strays?.()) ?? []) tell(path, [`left out: ${message}`]);
  const homes = await homesIn(from);
  const digests = new Map<string, string>();
  let [copied, same, bytes] = [0, 0, 0];
  for (const [at, home] of homes.entries()) {
    onProgress(`${at} of ${homes.length} copied`);
    const outcome = await copyHome(way, home).catch((error: unknown) => ({
      ...nothing,
      told: [`not copied: ${messageOfOne(error)}`],
    }));
    tell(shown(home), outcome.told);
    if (outcome.digest === null) continue;
    digests.set(shown(home), outcome.digest);
    if (outcome.isCopied) copied++;
    else same++;
    bytes += outcome.bytes;
  }
  for (const principal of (await from.leaving?.()) ?? []) {
    const home = storeHome(principal);
    const failed = (error: unknown): string[] => [`what it leaves out is not copied: ${messageOfOne(error)}`];
    tell(shown(home), await copyLeft(way, home).catch(failed));
  }
  // An edit by hand leaves no other mark.
  for (const [at, home] of homes.entries()) {
    const before = digests.get(shown(home));
    if (before === undefined) continue;
    onProgress(`${at} of ${counted(homes.length, "home")} compared`);
    tell(shown(home), await changedSince(way, home, before));
  }
  const known = new Set(homes.map(shown));
  const added = (await homesIn(from)).filter((home) => !known.has(shown(home)));
  for (const home of added) tell(shown(home), ["made meanwhile, not copied"]);
  return { copied, same, bytes, told };
}

/** A copy would take what others have granted an erased user for grants of today. */
async function refuseErasures({ erased }: Engine, option: string): Promise<void> {
  if ((await erased.list()).length === 0) return;
  throw new ToolError(
    "BUSY",
    `Cannot copy: in --${option}, an erasure is not finished, any host that starts there finishes it`,
  );
}

/** Sorted. */
async function homesIn(engine: Engine): Promise<Home[]> {
  const found = (await engine.homes()).map((home) => (home.kind === "user" ? userHome(home.id) : storeHome(home.id)));
  return found.toSorted((a, b) => (shown(a) < shown(b) ? -1 : 1));
}

/** No user's id has a slash. */
const shown = ({ kind, id }: Home): string => (kind === "user" ? id : `stores/${id}`);

/** An error of one home does not stop the run. A full disk or an unreachable database does: throws it. */
function messageOfOne(error: unknown): string {
  if (error instanceof ToolError && !ofAll.has(error.code)) return error.message;
  throw error;
}

const ofAll: ReadonlySet<string> = new Set(["STORAGE_FULL", "STORAGE_BUSY", "INTERNAL"]);

interface HomeOutcome {
  /** What was found at the source; `null` if it is not at the target. */
  readonly digest: string | null;
  /** Else it was there. */
  readonly isCopied: boolean;
  readonly bytes: number;
  readonly told: readonly string[];
}

const nothing: HomeOutcome = { digest: null, isCopied: false, bytes: 0, told: [] };

const copyHome = (way: CopyWay, home: Home): Promise<HomeOutcome> =>
  way.from.hold([home], "read", waiting(way), async (held) => {
    const dump = await dumpOf(held, home);
    if (dump === null) return nothing;
    const digest = digestOf(dump);
    const grants = home.kind === "store" ? await grantsIn(dump) : [];
    const isCopied = await way.to.hold([home], "write", waiting(way), async (target) =>
      target.load?.(home, dump, grants),
    );
    const told = dump.leftOut.map(({ path, reason }) => `left out: ${path}: ${reason}`);
    if ((await digestIn(way.to, home, waiting(way))) === digest) {
      return isCopied ? { digest, isCopied, bytes: bytesOf(dump), told } : { ...nothing, digest, told };
    }
    const why = isCopied
      ? "not copied as it is: the target's differs from it"
      : "not copied: the target has another one";
    return { ...nothing, told: [...told, why] };
  });

const waiting = ({ waitMs }: CopyWay): EngineHold => ({ until: performance.now() + waitMs, makesLocks: true });

/** `null` if there is no home. */
const digestIn = (engine: Engine, home: Home, options: EngineHold): Promise<string | null> =>
  engine.hold([home], "read", options, async (held) => {
    const dump = await dumpOf(held, home);
    return dump && digestOf(dump);
  });

async function dumpOf(held: EngineHomes, home: Home): Promise<HomeDump | null> {
  const dump = await held.of(home).dump?.();
  if (dump === undefined) throw new RangeError("The homes of this store cannot be copied");
  return dump;
}

const changedSince = (way: CopyWay, home: Home, before: string): Promise<string[]> =>
  digestIn(way.from, home, waiting(way)).then(
    (now) => (now === before ? [] : ["edited meanwhile"]),
    (error: unknown) => [`not compared again: ${messageOfOne(error)}`],
  );

/**
 * A hash of everything that a copy of a home has in common with it: files with contents, times and origins, the versions,
 * the contents that are kept, records, and whose store it is. Grants are a file.
 */
function digestOf(dump: HomeDump): string {
  const digest = createHash("sha256");
  const add = (...values: readonly (string | number | boolean | null)[]): void =>
    void digest.update(`${JSON.stringify(values)}\n`);
  add("home", dump.unknown, dump.isBroken, dump.creator);
  for (const file of dump.files) {
    const origin = dump.origins.get(placeKey(file));
    add("file", file.scope, file.path, file.sha256, file.writtenUs);
    if (origin) add(origin.seq, origin.sha256, origin.class, origin.trust, origin.atMs, origin.kind ?? null);
  }
  for (const line of dump.lines) add("version", line);
  for (const sha256 of dump.kept.map((each) => each.sha256).toSorted()) add("kept", sha256);
  for (const { kind, name, text } of dump.records) add("record", kind, name, text);
  return digest.digest("hex");
}

/** None of a file that no host has written: it grants nobody anything where it is, either. */
async function grantsIn({ files, contentsOf }: HomeDump): Promise<readonly StoreGrant[]> {
  const file = files.find(({ scope, path }) => scope === grantsScope && path === grantsPath);
  if (file === undefined) return [];
  try {
    return readGrants((await contentsOf([file.sha256])).get(file.sha256) ?? null);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return [];
    throw error;
  }
}

/** A content that several files or versions have counts once for each. */
const bytesOf = ({ files, kept }: HomeDump): number => [...files, ...kept].reduce((sum, { bytes }) => sum + bytes, 0);

/** Copies which stores a principal leaves out. What a killed run has begun is completed: each counts for itself. */
async function copyLeft(way: CopyWay, home: Home): Promise<string[]> {
  const left = await way.from.hold([home], "read", waiting(way), (held) => held.of(home).recordSizes("left"));
  return await new Store(way.to).hold([home], "write", waiting(way), async (held) => {
    const { records } = held.of(home);
    const there = await records.names("left");
    for (const store of left.keys()) if (!there.includes(store)) await records.write("left", store, "");
    await records.commit();
    return there.every((store) => left.has(store)) ? [] : ["the target leaves out more stores"];
  });
}
