import { scopeName } from "../../../shared/path.ts";
/** What should not be in a user's folder, or is unfinished there: everything that can be told without knowing a format. */
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../tool-error.ts";
import type { StoreFinding } from "../store.ts";
import { isStagedName } from "./commit/apply-files.ts";
import { JournalDamaged } from "./commit/find-records.ts";
import { Journal } from "./commit/journal.ts";
import { needsRecovery } from "./commit/recover.ts";
import type { Directory } from "./disk/directory.ts";
import { checkOwner } from "./owner.ts";
import { hostFolder } from "./user-folder.ts";
import type { UserFolder } from "./user-folder.ts";

/** `boot` is the present start of the machine. */
export function examineUser(folder: UserFolder, boot: string | null): StoreFinding[] {
  using user = folder.open();
  if (user === null) return [];
  const scopes = user.entries().filter(({ name }) => scopeName.test(name));
  const inScopes = scopes.flatMap(({ name, kind }) => {
    if (kind !== "folder") return [unsafe(name, "it is no folder")];
    using scope = user.openFolder(name);
    return scope === null ? [] : strangeFiles(scope, `${name}/`);
  });
  using own = user.openFolder(hostFolder);
  return own === null ? inScopes : [...inScopes, ...ownFindings(folder, own, boot)];
}

function strangeFiles(folder: Directory, above: string): StoreFinding[] {
  return folder.entries().flatMap(({ name, kind }) => {
    const path = above + name;
    if (kind === "other") return [unsafe(path, "it is neither a file nor a folder")];
    try {
      if (kind === "file") folder.sizeOf(name, path);
      using below = kind === "folder" ? folder.openFolder(name) : null;
      return below === null ? [] : strangeFiles(below, `${path}/`);
    } catch (error) {
      // A name that no tool can say is nobody's business here.
      if (!(error instanceof ToolError) || error.code === "CAPABILITY_DENIED") return [];
      return [unsafe(path, error.message.split(": ").at(-1) ?? "")];
    }
  });
}

const unsafe = (path: string, message: string): StoreFinding => ({
  problem: "not-a-plain-file",
  path: quoted(path).slice(1, -1),
  message,
  remedy: null,
});

function ownFindings(folder: UserFolder, own: Directory, boot: string | null): StoreFinding[] {
  const names = own.entries().map(({ name }) => name);
  return [
    ...(checkOwner(folder) ? [] : [ofOwn("owner-missing", "owner", "no owner is recorded", "record the user's id")]),
    ...names
      .filter(isStagedName)
      .map((name) => ofOwn("temporary-file", name, "a killed process has left it", "remove it")),
    ...names
      .filter((name) => name.startsWith("journal-damaged-"))
      .map((name) => ofOwn("journal-damaged", name, "it could not be read as a journal and was put aside", null)),
    ...journalFinding(own, folder.userId, boot).map(([message, remedy]) =>
      ofOwn("journal-unfinished", "journal", message, remedy),
    ),
  ];
}

const ofOwn = (
  problem: StoreFinding["problem"],
  name: string,
  message: string,
  remedy: string | null,
): StoreFinding => ({ problem, path: `${hostFolder}/${name}`, message, remedy });

function journalFinding(own: Directory, owner: string, boot: string | null): [message: string, remedy: string][] {
  try {
    using journal = Journal.open(own, owner);
    if (journal === null || !needsRecovery({ journal, boot })) return [];
    const paths = new Set(journal.records.flatMap(({ files }) => files.map(({ scope, path }) => `${scope}/${path}`)));
    return [[`a crash has left ${journal.records.length} records on ${[...paths].join(", ")}`, "finish what they say"]];
  } catch (error) {
    if (error instanceof JournalDamaged)
      return [["it cannot be read as a journal", "put it aside and begin a new one"]];
    throw error;
  }
}
