import type { StoreSettings } from "../store-settings.ts";
import type { ChangeNews } from "./change-news.ts";
import type { Database } from "./database.ts";
import type { Holds } from "./holds.ts";

export interface PostgresParts {
  readonly database: Database;
  readonly holds: Holds;
  readonly news: ChangeNews;
  readonly settings: StoreSettings;
}
