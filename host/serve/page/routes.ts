/** All screens, by the first name of their address. */
import { html } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import { changes, undo } from "./screens/changes.ts";
import { check, data, download, erase } from "./screens/data.ts";
import { confirmed, edit, entry, forget, note, version } from "./screens/entry.ts";
import { add, memory, search } from "./screens/memory.ts";
import { clear, grant, join, quit, revoke, sharing } from "./screens/sharing.ts";
import { empty, restore, trash } from "./screens/trash.ts";
import type { Screen } from "./screens/visit.ts";
import { approve, correct, reject, waiting } from "./screens/waiting.ts";

/** `under`: the name in the navigation. */
export type Route = Readonly<{ screen: Screen; under: string }>;

const leave: Screen = { isReading: true, act: async () => ({ left: "closed" }) };

/** The screens of the navigation: the name of each, what it is called, and the screens that belong to it. */
export const menu: readonly (readonly [name: string, words: Markup, screens: Readonly<Record<string, Screen>>])[] = [
  ["", html`Memory`, { "": memory, leave, search, add, entry, version, confirm: confirmed, forget, edit, note }],
  ["waiting", html`To decide`, { waiting, correct, approve, reject }],
  ["changes", html`Changes`, { changes, undo }],
  ["sharing", html`Sharing`, { sharing, grant, revoke, clear, quit, join }],
  ["trash", html`Trash`, { trash, restore, empty }],
  ["data", html`Your data`, { data, download, check, erase }],
];

export const routes: ReadonlyMap<string, Route> = new Map(
  menu.flatMap(([under, , screens]) =>
    Object.entries(screens).map(([name, screen]): [string, Route] => [name, { screen, under }]),
  ),
);
