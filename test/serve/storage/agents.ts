/** The agents of the storage routes' tests, and why they are refused. */
import { storeIdOf } from "memcell";

import type { Asked } from "../../stage/http-requests.ts";
import type { HttpStage, HttpStageOptions, ServedHttp } from "../../stage/http.ts";

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

/** The answer's status and body, and why it was refused. */
export async function refusedOf(stage: HttpStage, asked: Asked, by: ServedHttp = stage): Promise<unknown> {
  stage.forget();
  const { status, body } = await by.ask(asked);
  return { status, body, refusals: stage.refusals.map(({ reason, userId }) => [reason, userId ?? null]) };
}

/** What `refusedOf` returns for a refusal with a known text. */
export const refused = (status: number, error: string, reason: string, userId: string | null = null) => ({
  status,
  body: JSON.stringify({ error }),
  refusals: [[reason, userId]],
});
