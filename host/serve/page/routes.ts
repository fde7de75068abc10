/** All screens, by the first name of their address. */
import { changes, undo } from "./screens/changes.ts";
import { check, data, download, erase } from "./screens/data.ts";
import { confirmed, edit, entry, forget, note, version } from "./screens/entry.ts";
import { add, memory, search } from "./screens/memory.ts";
import { clear, grant, join, quit, revoke, sharing } from "./screens/sharing.ts";
import { empty, restore, trash } from "./screens/trash.ts";
import type { Screen } from "./screens/visit.ts";
import { approve, correct, reject, waiting } from "./screens/waiting.ts";

export interface Route {
  readonly screen: Screen;
  /** The screen of the navigation that it belongs to. */
  readonly under: string;
}

const under = (name: string, screens: Readonly<Record<string, Screen>>): (readonly [string, Route])[] =>
  Object.entries(screens).map(([own, screen]) => [own, { screen, under: name }]);

export const routes: ReadonlyMap<string, Route> = new Map([
  ...under("", { "": memory, search, add, entry, version, confirm: confirmed, forget, edit, note }),
  ...under("waiting", { waiting, correct, approve, reject }),
  ...under("changes", { changes, undo }),
  ...under("sharing", { sharing, grant, revoke, clear, quit, join }),
  ...under("trash", { trash, restore, empty }),
  ...under("data", { data, download, check, erase }),
]);
