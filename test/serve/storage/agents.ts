/** The agents of the storage routes' tests. */
import { storeIdOf } from "memcell";

import type { HttpStageOptions } from "../../stage/http.ts";

/** An agent whose id is that of its own store, and one whose id is none. */
export const weather = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f";
export const planner = "planner";
export const plannerStore: string = storeIdOf(planner);

/** A server with storage routes whose agents may share. */
export const sharing = (options: HttpStageOptions = {}): HttpStageOptions => ({
  storage: {},
  ...options,
  runtime: { memory: { sharingByModels: true }, ...options.runtime },
});
