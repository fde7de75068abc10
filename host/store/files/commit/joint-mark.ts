import { randomBytes } from "node:crypto";

import * as z from "../../../../shared/zod.ts";
import { isStoreId } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { changedStoresMax } from "../../shared-stores.ts";

/**
 * What a record says about a change of several stores. Each store has a record with its part. The leader, the store with
 * the lowest id, writes its record last: with it the change is committed.
 */
export type JointMark = LeaderMark | PartMark;

export interface LeaderMark {
  /** Random, the same in all records of one change. */
  readonly id: string;
  /** The stores with the other parts. */
  readonly others: readonly StoreId[];
}

export interface PartMark {
  readonly id: string;
  readonly leader: StoreId;
}

export const isOfLeader = (mark: JointMark): mark is LeaderMark => "others" in mark;

export const newJointId = (): string => randomBytes(16).toString("hex");

const jointId = z.string().check(z.regex(/^[0-9a-f]{32}$/));
const storeId = z.string().check(z.refine(isStoreId));

export const jointMarkSchema = z.union([
  z.strictObject({ id: jointId, others: z.array(storeId).check(z.minLength(1), z.maxLength(changedStoresMax - 1)) }),
  z.strictObject({ id: jointId, leader: storeId }),
]);
