/** Copies everything from one store to another, home by home. A run that was interrupted is completed by another one. */
import { createHash } from "node:crypto";

import { counted } from "../../shared/text.ts";
import { readGrants } from "../sharing/grants.ts";
import type { HomeContent, HomeName, CopiedHome, StoreCopy } from "../store/copying.ts";
import { grantsPath, grantsScope } from "../store/home.ts";
import { placeKey } from "../store/versions/present-origins.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";

interface CopyWay {
  readonly from: StoreCopy;
  readonly to: StoreCopy;
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
  const told: ToldHome[] = (await from.strays()).map(({ path, message }) => ({
    home: path,
    told: `left out: ${message}`,
  }));
  const homes = sortedHomes(await from.homes());
  const digests = new Map<string, string>();
  let [copied, same, bytes] = [0, 0, 0];
  for (const [at, home] of homes.entries()) {
    onProgress(`${at} of ${homes.length} copied`);
    const outcome = await copyHome(way, home);
    told.push(...outcome.told.map((text) => ({ home: shownHome(home), told: text })));
    if (outcome.digest !== null) digests.set(shownHome(home), outcome.digest);
    copied += Number(outcome.kind === "copied");
    same += Number(outcome.kind === "same");
    bytes += outcome.bytes;
  }
  told.push(...(await copyLeftStores(way)));
  told.push(...(await changedMeanwhile(way, homes, digests)));
  return { copied, same, bytes, told };
}

/** A copy would take what others have granted an erased user for grants of today. */
async function refuseErasures(place: CopyWay["from"], option: string): Promise<void> {
  if (!(await place.hasErasures())) return;
  throw new ToolError(
    "BUSY",
    `Cannot copy: in --${option}, an erasure is not finished, any host that starts there finishes it`,
  );
}

interface HomeOutcome {
  readonly kind: "copied" | "same" | "not copied" | "gone";
  /** What was found at the source; `null` if it is not at the target. */
  readonly digest: string | null;
  readonly bytes: number;
  readonly told: readonly string[];
}

function copyHome(way: CopyWay, home: HomeName): Promise<HomeOutcome> {
  const work = (): Promise<HomeOutcome> =>
    way.from.hold(home, async (content) => (content === null ? outcome("gone") : copyContent(way, home, content)));
  return orElse(work, (message) => outcome("not copied", { told: [`not copied: ${message}`] }));
}

/** An error of one home does not stop the run. A full disk or an unreachable database does. */
async function orElse<Result>(work: () => Promise<Result>, failed: (message: string) => Result): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError) || ofAll.has(error.code)) throw error;
    return failed(error.message);
  }
}

const ofAll: ReadonlySet<string> = new Set(["STORAGE_FULL", "STORAGE_BUSY", "INTERNAL"]);

const outcome = (kind: HomeOutcome["kind"], more: Partial<HomeOutcome> = {}): HomeOutcome => ({
  kind,
  digest: null,
  bytes: 0,
  told: [],
  ...more,
});

async function copyContent({ to }: CopyWay, home: HomeName, content: HomeContent): Promise<HomeOutcome> {
  const digest = digestOfHome(content);
  const told = content.leftOut.map(({ path, reason }) => `left out: ${path}: ${reason}`);
  const digestThere = (): Promise<string | null> => to.hold(home, async (there) => there && digestOfHome(there));
  const present = await digestThere();
  const isWritten = present === null && (await to.write(home, { ...content, grants: await grantsIn(content) }));
  // If it is not written here, another copy can have written it meanwhile.
  const there = present ?? (await digestThere());
  if (there === digest) {
    return isWritten ? outcome("copied", { digest, bytes: bytesOf(content), told }) : outcome("same", { digest, told });
  }
  const why = isWritten
    ? "not copied as it is: the target's differs from it"
    : "not copied: the target has another one";
  return outcome("not copied", { told: [...told, why] });
}

/**
 * A hash of everything that a copy of a home has in common with it: files with contents, times and origins, the versions,
 * the contents that are kept, records, and whose store it is. Grants are a file.
 */
function digestOfHome(facts: CopiedHome): string {
  const digest = createHash("sha256");
  const add = (...values: readonly (string | number | boolean | null)[]): void =>
    void digest.update(`${JSON.stringify(values)}\n`);
  add("home", facts.unknown, facts.isBroken, facts.creator);
  for (const file of facts.files) {
    const origin = facts.origins.get(placeKey(file));
    add("file", file.scope, file.path, file.sha256, file.writtenUs);
    if (origin) add(origin.seq, origin.sha256, origin.class, origin.trust, origin.atMs, origin.kind ?? null);
  }
  for (const line of facts.lines) add("version", line);
  for (const sha256 of facts.kept.map((each) => each.sha256).toSorted()) add("kept", sha256);
  for (const { kind, name, text } of facts.records) add("record", kind, name, text);
  return digest.digest("hex");
}

/** None of a file that no host has written: it grants nobody anything where it is, either. */
async function grantsIn(content: HomeContent): Promise<readonly StoreGrant[]> {
  const file = content.files.find(({ scope, path }) => scope === grantsScope && path === grantsPath);
  if (file === undefined) return [];
  try {
    return readGrants((await content.contentsOf([file.sha256])).get(file.sha256) ?? null);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return [];
    throw error;
  }
}

/** A content that several files or versions have counts once for each. */
const bytesOf = ({ files, kept }: HomeContent): number =>
  [...files, ...kept].reduce((sum, { bytes }) => sum + bytes, 0);

/** Copies which stores principals leave out. What a killed run has begun is completed: each counts for itself. */
async function copyLeftStores({ from, to }: Pick<CopyWay, "from" | "to">): Promise<ToldHome[]> {
  const told: ToldHome[] = [];
  const there = await to.leftStores();
  for (const [principal, stores] of await from.leftStores()) {
    const present = there.get(principal) ?? [];
    const missing = stores.filter((store) => !present.includes(store));
    if (missing.length > 0) await to.leaveStores(principal, missing);
    const more = present.filter((store) => !stores.includes(store));
    if (more.length > 0) told.push({ home: `stores/${principal}`, told: "the target leaves out more stores" });
  }
  return told;
}

/** Reads all homes again: an edit by hand leaves no other mark. */
async function changedMeanwhile(
  { from, onProgress }: CopyWay,
  homes: readonly HomeName[],
  digests: ReadonlyMap<string, string>,
): Promise<ToldHome[]> {
  const told: ToldHome[] = [];
  for (const [at, home] of homes.entries()) {
    const before = digests.get(shownHome(home));
    if (before === undefined) continue;
    onProgress(`${at} of ${counted(homes.length, "home")} compared`);
    const look = async (): Promise<string | null> =>
      (await from.hold(home, async (content) => content && digestOfHome(content))) === before
        ? null
        : "edited meanwhile";
    const found = await orElse(look, (message) => `not compared again: ${message}`);
    if (found !== null) told.push({ home: shownHome(home), told: found });
  }
  const known = new Set(homes.map(shownHome));
  const added = sortedHomes(await from.homes()).filter((home) => !known.has(shownHome(home)));
  return [...told, ...added.map((home) => ({ home: shownHome(home), told: "made meanwhile, not copied" }))];
}

const sortedHomes = (homes: readonly HomeName[]): HomeName[] =>
  homes.toSorted((a, b) => (shownHome(a) < shownHome(b) ? -1 : 1));

/** No user's id has a slash. */
const shownHome = ({ kind, id }: HomeName): string => (kind === "user" ? id : `stores/${id}`);
