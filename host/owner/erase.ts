/** Erases a user wholly. No plugin is asked, and what no tool can read goes as well. */
import { ownStoreName, scopeOfStore } from "../../shared/shared-scope.ts";
import { counted, quoted } from "../../shared/text.ts";
import { archivePlace, refuseTaken, writeArchive } from "../archive/archive-file.ts";
import { zipOf } from "../archive/write-zip.ts";
import type { ErasedFacts } from "../audit/collect/record.ts";
import type { Turn } from "../call/admission.ts";
import { grantsIn } from "../sharing/grants.ts";
import type { ErasableContent, ErasedUser, LeftOver } from "../store/engine.ts";
import { isLive } from "../store/grant-hints.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { ownStoreHome, userHome } from "../store/home.ts";
import type { HoldOptions, Mode } from "../store/home.ts";
import { ownStoreOf } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { ExportedFile } from "../values/memory-file.ts";
import type { GrantChange } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import type { ErasedContent, EraseOptions, ErasePlan, Erasure } from "./erase-plan.ts";
import { surveyPart, together, withoutContent } from "./export.ts";
import type { Survey } from "./export.ts";
import { openedExport } from "./exported-contents.ts";
import { optional, text } from "./field.ts";
import { grantsTo } from "./finish-erased.ts";
import type { ReceivedGrant } from "./finish-erased.ts";
import type { LeftOutFile, OpenExport } from "./memory-files.ts";
import { passOver } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { eachPart, partOf } from "./user-scopes.ts";

export const erase = defineOperation({
  name: "erase",
  action: "erase the user",
  changes: true,
  fields: {
    export: optional(
      text(
        "FILE.zip",
        "a zip file to write first; it must not exist yet",
        "the path of a file",
        (typed) => typed !== "",
      ),
    ),
  },
  run: eraseUser,
  plan: { name: "planErase", action: "plan an erasure", changes: true, run: planErasure },
  command: {
    name: "erase",
    summary: "erases a user with everything that is stored",
    description: `Erases a user for good: the user's folder with all scopes and their trash, whatever plugins are loaded; the user's own store
with its grants; and the grants that others have given to the user.

It is all or nothing, also if the process is killed. It needs no free room on the disk. It does not follow links. Calls of the user
wait, or begin anew with an empty memory.

What stays: the audit log; what the user has written in other people's stores, which their owners remove with "memcell stores clear"; and
mounted folders.

With --export, a zip file is written first, the same as "memcell export" writes. If that fails, or if it would leave anything out,
nothing is removed.`,
    examples: ["memcell erase --user alice", "memcell erase --user alice --export alice.zip --yes"],
    exitCodes: [
      "erased; without --yes: there is something to erase",
      "failed; or erased, but something could not be removed",
    ],
    needsUser: true,
    tells: (plan: ErasePlan | Erasure, { isPlan }) => [
      ...linesOf(plan),
      ...(isPlan ? [] : leftIn("left" in plan ? plan.left : [])),
    ],
    isUnfinished: (plan) => "left" in plan && plan.left.length > 0,
  },
});

/** Where the export goes; `null` without one. Throws if nothing can be written there. */
async function exportPlace(operation: Operation, { export: file }: EraseOptions): Promise<string | null> {
  if (file === undefined) return null;
  await refuseTaken(file);
  const place = archivePlace(file);
  if (!operation.isAmongUsers(place)) return place;
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot ${operation.action}: export is a file in the data folder; expected one outside`,
  );
}

function linesOf({ contents, grantees, granters, mounted, closed }: ErasePlan): string[] {
  const sum = (of: "files" | "bytes"): number => contents.reduce((all, each) => all + each[of], 0);
  return [
    ...contents.map(({ scope, files, bytes }) => `${scope ?? "other files"}: ${amount(files, bytes)}`),
    ...grantees.map((id) => `grant to the user with the store ${id}`),
    ...granters.map((id) => `grant of the store ${id}`),
    ...mounted.map((scope) => `${scope}: stays, because it is a mounted folder`),
    ...closed.map((each) => `cannot be opened: ${shown(each)}`),
    `${amount(sum("files"), sum("bytes"))}, ${counted(grantees.length + granters.length, "grant")}`,
  ];
}

function leftIn(left: readonly LeftOver[]): string[] {
  if (left.length === 0) return ["Erased"];
  return [
    ...left.map((each) => `could not be removed: ${shown(each)}`),
    "Erased for all tools, but something is left: the next start tries to remove it again",
  ];
}

const amount = (files: number, bytes: number): string => `${counted(files, "file")}, ${counted(bytes, "byte")}`;

const shown = ({ path, reason }: LeftOver): string => `${path}: ${reason}`;

async function planErasure(operation: Operation, options: EraseOptions): Promise<ErasePlan> {
  await exportPlace(operation, options);
  const elsewhere = await findElsewhere(operation);
  return await holdAll(operation, "look", {}, async (held) => (await findAll(operation, held, elsewhere)).plan);
}

async function eraseUser(operation: Operation, options: EraseOptions): Promise<Erasure> {
  const file = await exportPlace(operation, options);
  const elsewhere = await findElsewhere(operation);
  const only = file === null ? [] : elsewhere.mounted;
  // Mounted folders stay, so what an export leaves out there is not lost.
  const fromMounts = await eachPart(operation, { mode: "read", only }, (part) => surveyPart(part, listing, true));
  const { plan, erased } = await holdAll(operation, "erase", { finishes: file !== null }, async (held, turn) => {
    const found = await findAll(operation, held, elsewhere);
    if (file !== null) await writeArchive(file, zipOf(await exportHeld(operation, { held, turn, fromMounts })));
    const grantedMs = Math.max(0, ...elsewhere.received.map(({ grant }) => grant.grantedMs));
    return { plan: found.plan, erased: found.isThere ? [await operation.erase(held, found, grantedMs)] : [] };
  });
  const left: LeftOver[] = [];
  const isRecorded = ({ store }: GrantChange): boolean => plan.granters.includes(store);
  for (const each of [...elsewhere.leftOver, ...erased]) {
    left.push(...(await operation.finishErased(each, isRecorded)));
  }
  return { ...plan, left };
}

type HeldToErase = readonly [user: HeldHome, own: HeldHome];

/** Holds everything that the user has but mounted folders. */
function holdAll<Result>(
  operation: Operation,
  mode: Mode,
  options: Pick<HoldOptions, "finishes">,
  work: (held: HeldToErase, turn: Turn) => Promise<Result>,
): Promise<Result> {
  const [user, own] = [userHome(operation.userId), ownStoreHome(operation.userId)];
  return operation.holdHomes([user, own], mode, options, (held, turn) => work([held.of(user), held.of(own)], turn));
}

/** What is not in the user's folder and own store. */
interface Elsewhere {
  readonly mounted: readonly string[];
  readonly received: readonly ReceivedGrant[];
  readonly isHinted: boolean;
  /** Of earlier erasures of the user. */
  readonly leftOver: readonly ErasedUser[];
}

async function findElsewhere(operation: Operation): Promise<Elsewhere> {
  const { store } = operation;
  const own = ownStoreOf(operation.userId);
  const { grants } = await operation.inTurn((turn) => grantsTo(store, own, turn));
  const mounted = operation.parts.flat().filter((scope) => scope !== ownStoreName);
  const leftOver = (await store.erased.list()).filter((each) => each.store === own);
  return { mounted, received: grants, isHinted: (await store.hintsOf(own)).length > 0, leftOver };
}

interface Found extends ErasedFacts {
  readonly plan: ErasePlan;
  /** Whether there is more than what earlier erasures have left. */
  readonly isThere: boolean;
}

/** Throws `ENTRY_NOT_FOUND` if there is nothing. */
async function findAll(
  operation: Operation,
  held: HeldToErase,
  { mounted, received, isHinted, leftOver }: Elsewhere,
): Promise<Found> {
  const own = ownStoreOf(operation.userId);
  const all: ErasableContent[] = [];
  for (const each of held) all.push(...(await each.contents()));
  const contents = sumsOf(all);
  const grantees = await granteesOf(operation, held[1]);
  const granters = received.map(({ store }) => store);
  const isThere = contents.length > 0 || granters.length > 0 || isHinted;
  if (!isThere && leftOver.length === 0) {
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${operation.action}: nothing is stored of this user`);
  }
  const closed = all.flatMap((each) => each.closed);
  const granted = [...grantees.map((each) => revoked(own, each)), ...granters.map((each) => revoked(each, own))];
  const plan = { contents, grantees, granters, mounted, closed };
  return { plan, isThere, contents: inStoreScope(contents, own), granted };
}

const revoked = (store: StoreId, grantee: StoreId): GrantChange => ({ store, grantee, level: null, expiresMs: null });

/** As the audit log names them. */
const inStoreScope = (contents: readonly ErasedContent[], own: StoreId): ErasedContent[] =>
  contents.map((each) => (each.scope === ownStoreName ? { ...each, scope: scopeOfStore(own) } : each));

/** One row for each scope, and a last one for what is in none. */
function sumsOf(contents: readonly ErasedContent[]): ErasedContent[] {
  const sums = new Map<string | null, ErasedContent>();
  for (const { scope, files, bytes } of contents) {
    const sum = sums.get(scope) ?? { scope, files: 0, bytes: 0 };
    sums.set(scope, { scope, files: sum.files + files, bytes: sum.bytes + bytes });
  }
  return [...sums.values()].toSorted((a, b) => (lastOfNone(a) < lastOfNone(b) ? -1 : 1));
}

/** Behind the name of every scope. */
const lastOfNone = ({ scope }: ErasedContent): string => scope ?? "~";

/** To whom the user has granted access. Grants that cannot be read open the store to nobody. */
async function granteesOf(operation: Operation, own: HeldHome): Promise<StoreId[]> {
  const grants = (await grantsIn(own).catch(passOver)) ?? [];
  return grants.filter((each) => isLive(each, operation.now())).map(({ grantee }) => grantee);
}

const listing = { keep: withoutContent };

interface ToExport {
  readonly held: HeldToErase;
  readonly turn: Turn;
  readonly fromMounts: readonly Survey<ExportedFile>[];
}

/** The export of what is held, and of mounted folders. Throws `STORAGE_UNSAFE` if it would leave out anything that is erased. */
async function exportHeld(operation: Operation, { held, turn, fromMounts }: ToExport): Promise<OpenExport> {
  const parts: Survey<ExportedFile>[] = [];
  for (const each of held) {
    const part = await partOf(operation, each.home.kind === "user" ? [] : [ownStoreName], each);
    parts.push(await surveyPart(part, listing, true));
  }
  refuseLeftOut(
    operation,
    parts.flatMap(({ leftOut }) => leftOut),
  );
  const { store, userId } = operation;
  const { until, signal } = turn;
  const hold = <Result>(scope: string, work: (of: HeldHome) => Promise<Result>): Promise<Result> => {
    const home = store.homeOf(userId, [scope]);
    // Locked behind the others, as all calls do it.
    if (home.kind === "mount") return store.hold([home], "read", { until, signal }, (all) => work(all.of(home)));
    return work(held[0].all.of(home));
  };
  const leave = (file: LeftOutFile): void => {
    if (store.homeOf(userId, [file.scope]).kind !== "mount") refuseLeftOut(operation, [file]);
  };
  return openedExport(await together([...fromMounts, ...parts]), { hold, leave });
}

function refuseLeftOut(operation: Operation, [first, ...others]: readonly LeftOutFile[]): void {
  if (first === undefined) return;
  const place = [first.scope, first.path].filter((name) => name !== "").join("/");
  const reason = `the export leaves out ${quoted(place)}: ${first.reason}; and ${counted(others.length, "file")} more`;
  throw new ToolError("STORAGE_UNSAFE", `Cannot ${operation.action}: ${reason}`);
}
