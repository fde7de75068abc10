/** A memory in which every screen has something to show, with given texts wherever somebody else can write one. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import type { Runtime } from "memcell";

import { userFolder } from "../support/user-files.ts";
import { linksIn } from "./page-forms.ts";
import { remember, suggest } from "./page-stage.ts";
import type { Visitor } from "./page-stage.ts";

/** Texts of others, in turn. */
export interface OthersTexts {
  readonly next: () => string;
  /** Of one line that can be seen, of at most so many characters. */
  readonly line: (charsMax: number) => string;
}

export function textsOf(texts: readonly string[]): OthersTexts {
  let at = 0;
  const next = (): string => texts[at++ % texts.length] ?? "";
  const line = (charsMax: number): string => {
    const seen = next()
      .replaceAll(/[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]+/gu, " ")
      .trim()
      .slice(0, charsMax)
      .toWellFormed()
      .replaceAll("\ufffd", "?")
      .trim();
    return seen === "" ? "empty" : seen;
  };
  return { next, line };
}

/** Fills every family, the history, the trash, what waits, the grants, and files that somebody has put there by hand. */
export async function fillMemory(
  { runtime, dataDir }: { readonly runtime: Runtime; readonly dataDir: string },
  userId: string,
  { next, line }: OthersTexts,
): Promise<void> {
  const ctx = (of: string) =>
    ({ userId, origin: { class: of, run: ascii(line(100)), source: ascii(line(200)) } }) as const;
  const origin = (of: string): object => ctx(of).origin;
  const told = () => ({ description: line(200), body: `${visible(next())}\n`.slice(0, 20_000) });
  for (const of of ["direct_user", "model_inference", "tool_internal"])
    for (let at = 0; at < 4; at++)
      await remember(runtime, userId, { name: `${of}-${at}`, ...told(), origin: origin(of) });
  await remember(runtime, userId, { name: "tea", ...told() });
  await remember(runtime, userId, { name: "tea", ...told(), origin: origin("model_inference") });
  await remember(runtime, userId, { name: "x".repeat(100), ...told() });
  for (const name of ["tea", "offer"])
    await suggest(runtime, userId, { name, ...told(), origin: origin("tool_external") });
  await remember(runtime, userId, { name: "gone", ...told() });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, { userId });
  const asModel = { userId, origin: { class: "model_inference" } } as const;
  for (const key of ["trip", "in the same file"])
    await runtime.call("memory_write", { key, content: visible(next()), tags: [] }, asModel);
  await runtime.call("memory", { command: "create", path: "/memories/kept.md", content: visible(next()) }, asModel);
  await runtime.stores({ userId }).grant("bob", { expiresAt: new Date(Date.now() + 86_400_000) });
  await runtime.stores({ userId: "carol" }).grant(storeIdOf(userId), { level: "search" });
  byHand(join(userFolder(dataDir, userId), "memory"), next);
}

/** What a tool takes, so that a model can have written it. */
const visible = (text: string): string =>
  text.toWellFormed().replaceAll(/(?![\t\n])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, "?");

const ascii = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?");

/** A person or another program can give a file any name, and any text. */
function byHand(folder: string, next: () => string): void {
  for (let at = 0; at < 6; at++) {
    const name = next().toWellFormed().replaceAll(/[/\0]/g, "_").slice(0, 60);
    mkdirSync(join(folder, "trash"), { recursive: true });
    writeFileSync(join(folder, `${name}.md`), next().toWellFormed());
    writeFileSync(join(folder, "trash", `${name} of before.md`), next().toWellFormed());
  }
}

/** The pages that links lead to from the start, of each screen at most so many. */
export async function everyScreen(person: Visitor, perScreenMax = Infinity): Promise<Map<string, string>> {
  const [seen, counts, ahead] = [new Map<string, string>(), new Map<string, number>(), [person.base]];
  for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
    const screen = path.slice(person.base.length).split(/[/?]/)[1] ?? "";
    const count = counts.get(screen) ?? 0;
    if (seen.has(path) || count >= perScreenMax) continue;
    counts.set(screen, count + 1);
    const { status, body } = await person.ask({ path, headers: { cookie: person.cookie } });
    if (status !== 200) throw new Error(`${path} is answered with ${status}`);
    seen.set(path, body);
    ahead.push(...linksIn(body).filter((link) => !link.startsWith("#")));
  }
  return seen;
}
