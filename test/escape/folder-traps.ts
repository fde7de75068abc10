/** Unexpected things in the place of a folder or a file that the host uses, and how to put them there. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, relative } from "node:path";

/** Where a trap is put, and its possible targets: the same place of another user, and of a folder outside. */
export interface TrapPlace {
  readonly path: string;
  readonly neighbours: string;
  readonly outside: string;
}

export interface Trap {
  readonly name: string;
  /** Puts the trap into an empty place. If it returns a function, that function removes the trap. */
  readonly lay: (place: TrapPlace) => unknown;
}

const links: Trap[] = [
  {
    name: "a link to another user's",
    lay: ({ path, neighbours }) => symlinkSync(relative(dirname(path), neighbours), path),
  },
  { name: "a link to what lies outside", lay: ({ path, outside }) => symlinkSync(outside, path) },
  { name: "a link to nothing", lay: ({ path }) => symlinkSync("nowhere", path) },
  { name: "an absolute link to itself", lay: ({ path }) => symlinkSync(path, path) },
  {
    name: "a circle of two links",
    lay: ({ path }) => {
      symlinkSync(`${basename(path)}-2`, path);
      symlinkSync(basename(path), `${path}-2`);
    },
  },
];

const specials: Trap[] = [
  { name: "a named pipe", lay: ({ path }) => execFileSync("mkfifo", [path]) },
  { name: "a socket", lay: ({ path }) => listenAt(path) },
  { name: "a device", lay: ({ path }) => execFileSync("mknod", [path, "c", "1", "5"]) },
];

export const folderTraps: readonly Trap[] = [
  ...links,
  ...specials,
  { name: "a file", lay: ({ path }) => writeFileSync(path, "file") },
  {
    name: "a link to another user's, with a slash at its end",
    lay: ({ path, neighbours }) => symlinkSync(`${neighbours}/`, path),
  },
];

export const fileTraps: readonly Trap[] = [
  ...links,
  ...specials,
  { name: "a second name of another user's file", lay: ({ path, neighbours }) => linkedTo(neighbours, path) },
  { name: "a folder", lay: ({ path }) => mkdirSync(path) },
  {
    name: "a sparse giant",
    lay: ({ path }) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 33);
    },
  },
];

/** Empties the place and puts the trap there. */
export async function layTrap({ lay }: Trap, place: TrapPlace): Promise<() => void> {
  rmSync(place.path, { recursive: true, force: true });
  const end = await lay(place);
  return typeof end === "function" ? () => void end() : () => {};
}

async function listenAt(path: string): Promise<() => void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  return () => server.close();
}

/** Returns a function that removes the link: the other user cannot use the file while it has a second name. */
async function linkedTo(target: string, path: string): Promise<() => void> {
  linkSync(target, path);
  return () => rmSync(path, { force: true });
}
