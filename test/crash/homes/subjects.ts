/** All kinds of home by name, so that other processes can be told one, and what suites on real disks do with them. */
import { openFiles, DiskRoot, host } from "../store-under-test.ts";
import { erasedSubject } from "./erased.ts";
import { gateSubject } from "./gate.ts";
import { storeSubject } from "./stores.ts";
import type { StorePlace, Subject } from "./subject.ts";
import { settings } from "./switched-runtime.ts";
import { readTree } from "./tree.ts";
import type { Files } from "./tree.ts";
import { alice, userSubject } from "./user.ts";

export const subjects = {
  user: userSubject(alice),
  stores: storeSubject,
  erased: erasedSubject,
  gate: gateSubject,
} as const;

export type SubjectName = keyof typeof subjects;

/** Starts of the machine. */
export const boots = ["first start of the machine", "next start of the machine", "a later start"] as const;
export type Boot = (typeof boots)[number];

/** It keeps no session: each call is as one of another process. */
export const nothingKept = { idleMs: 0, ageMs: 0, sessionsMax: 0 };

type StoreOptions = Parameters<typeof openFiles>[1];

/** A store on a real disk. It goes by the clock of the runtime's versions. */
export function openPlace(path: string, boot: string, more: Partial<StoreOptions> = {}): StorePlace {
  const options = { durability: "full", note: () => {}, settings, ...more } as const;
  return { host, path, store: openFiles(new DiskRoot(path), options, boot) };
}

export const filesOn = (subject: Subject, path: string): Files => subject.filesIn(readTree(path));

export const stagedOn = (subject: Subject, path: string): string[] =>
  subject.stagedIn(readTree(path)).map((name) => `${name} was left behind`);
