/** What happens to a user's folders behind the store's back, for example by a restore. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Disturbance {
  readonly name: string;
  /** Receives the data folder. `backup`: a copy of the user's folder from before. */
  readonly disturb: (dataDir: string, backup: string) => void;
}

export const userIn = (dataDir: string): string => join(dataDir, "users/alice");
const own = (dataDir: string, name: string): string => join(userIn(dataDir), ".memcell", name);

export const away = (path: string): void => renameSync(path, `${path}.away`);
export const copied = (path: string): void => {
  away(path);
  cpSync(`${path}.away`, path, { recursive: true });
};
export const exchanged = (a: string, b: string): void => {
  renameSync(a, `${a}.between`);
  renameSync(b, a);
  renameSync(`${a}.between`, b);
};

const places = {
  "the user's folder": userIn,
  "the scope's folder": (dataDir: string) => join(userIn(dataDir), "memory"),
  "the host's own folder": (dataDir: string) => join(userIn(dataDir), ".memcell"),
  "the folder of all users": (dataDir: string) => join(dataDir, "users"),
  "the data folder": (dataDir: string) => dataDir,
};

export const moves: readonly Disturbance[] = Object.entries(places).flatMap(([name, at]): Disturbance[] => [
  { name: `${name} is moved away`, disturb: (dataDir) => away(at(dataDir)) },
  { name: `${name} is replaced by a copy`, disturb: (dataDir) => copied(at(dataDir)) },
  { name: `${name} is removed`, disturb: (dataDir) => rmSync(at(dataDir), { recursive: true }) },
]);

export const restores: readonly Disturbance[] = [
  ...["lock", "turnstile", "journal", "owner"].flatMap((name): Disturbance[] => [
    { name: `"${name}" is removed`, disturb: (dataDir) => rmSync(own(dataDir, name)) },
    {
      name: `"${name}" is replaced by an older copy`,
      disturb: (dataDir, backup) => {
        cpSync(join(backup, ".memcell", name), own(dataDir, `${name}.copy`));
        renameSync(own(dataDir, `${name}.copy`), own(dataDir, name));
      },
    },
    {
      name: `an older copy is written over "${name}"`,
      disturb: (dataDir, backup) => writeFileSync(own(dataDir, name), readFileSync(join(backup, ".memcell", name))),
    },
  ]),
  { name: "the WAL is emptied", disturb: (dataDir) => writeFileSync(own(dataDir, "journal"), "") },
  {
    name: "a backup of the user's folder is copied over it",
    disturb: (dataDir, backup) => cpSync(backup, userIn(dataDir), { recursive: true }),
  },
  {
    name: "a backup of the user's folder is moved into its place",
    disturb: (dataDir, backup) => {
      away(userIn(dataDir));
      renameSync(backup, userIn(dataDir));
    },
  },
];
