/** The host's records about a user, one file each: `.memcell/<kind>/<name>.json`. */
import type { Directory } from "../../disk/directory.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { checkRecordName, isRecordName } from "../held-records.ts";
import type { HeldRecords, RecordKind } from "../held-records.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import { HomeFolder } from "./home-folder.ts";
import type { HomeSession } from "./home-session.ts";
import type { Home } from "./home.ts";
import { changeDurably } from "./record-changes.ts";

const suffix = ".json";
/** In the host's own folder, where recovery and the doctor find what a killed process has left. */
const staged = "staged-record";
/** A larger file is none of ours. JSON makes up to six times as much of what a waiting call writes. */
const bytesMax = 16 * 1024 * 1024;

/** How a home is used: as its session has it, or as it lies on the disk. */
export interface RecordsOfHome {
  readonly home: Home;
  readonly session: () => HomeSession | null;
  readonly history: HeldHistory;
  /** The session to write in. Makes the home's folder if there is none. Throws if the home is held for reading only. */
  readonly toWrite: () => Promise<HomeSession>;
}

export function heldFileRecords({ home, session, history, toWrite }: RecordsOfHome): HeldRecords {
  const look = <Result>(kind: RecordKind, work: (folder: Directory | null) => Result): Result => {
    const held = session();
    using way = held === null ? HomeFolder.open(home) : null;
    const own = held?.place.own ?? way?.openOwn() ?? null;
    using folder = own?.openFolder(kind) ?? null;
    return work(folder);
  };
  return {
    names: async (kind) => look(kind, (folder) => (folder === null ? [] : namesIn(folder))),
    sizes: async (kind) => look(kind, (folder) => new Map(folder === null ? [] : sizesIn(folder))),
    read: async (kind, name) => {
      checkRecordName(name);
      return look(kind, (folder) => folder && readRecord(folder, name));
    },
    write: async (kind, name, text) => {
      checkRecordName(name);
      const { place } = await claimed(toWrite);
      using folder = place.own.makeFolder(kind);
      const content = Buffer.from(text);
      await changeDurably(place.own, [folder, place.own], () =>
        replaceFile(folder, name + suffix, { content, shown: kind, staged, stagedIn: place.own }),
      );
      place.check();
    },
    loweredRuns: async () => ({ runs: await history.loweredRuns(), isWhole: !history.isBroken }),
    noteLowered: async (lowered) => {
      const held = await claimed(toWrite);
      await held.history.noteLowered(lowered);
      held.place.check();
    },
    remove: async (kind, name) => {
      checkRecordName(name);
      if (look(kind, (folder) => folder === null || folder.measure(name + suffix) === null)) return;
      const { place } = await toWrite();
      using folder = place.own.openFolder(kind);
      if (folder !== null) await changeDurably(place.own, [folder], () => folder.remove(name + suffix));
    },
  };
}

async function claimed(toWrite: RecordsOfHome["toWrite"]): Promise<HomeSession> {
  const session = await toWrite();
  await session.claim();
  return session;
}

function namesIn(folder: Directory): string[] {
  const names = folder.entries().flatMap(({ name, kind }) => {
    const record = name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
    return kind === "file" && isRecordName(record) ? [record] : [];
  });
  return names.toSorted();
}

const sizesIn = (folder: Directory): [name: string, bytes: number][] =>
  namesIn(folder).map((name) => [name, folder.measure(name + suffix)?.bytes ?? 0]);

function readRecord(folder: Directory, name: string): string | null {
  using file = folder.openFile(name + suffix, name, "read");
  if (file === null) return null;
  const bytes = file.size();
  if (bytes <= bytesMax) return file.read(0, bytes).toString("utf8");
  throw new ToolError("STORAGE_UNSAFE", `Cannot read a record: it is ${bytes} bytes, at most ${bytesMax} allowed`);
}
