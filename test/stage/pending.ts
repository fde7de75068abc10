/** The record of a write that waits, for tests of what somebody does to it on the disk. */
export { pendingIdOf } from "../../host/gate/pending.ts";
export type { PendingWrite } from "../../host/gate/pending.ts";
