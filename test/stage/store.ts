/** The interfaces of a store, with what they are made of. Tests of homes and engines reach them through here. */
export { openFileReaders } from "../../host/store/files/file-reader.ts";
export { userFolderName } from "../../host/store/files/home.ts";
export type { NoteOfUser, ReadBridge, StoreDefinition, StoreLocation } from "../../host/store/definition.ts";
export type { Engine, ErasedUser, NewGrants } from "../../host/store/engine.ts";
export type { HomeCommit } from "../../host/store/held-homes.ts";
export type { HeldHome as HeldReader } from "../../host/store/held-homes.ts";
export type { StoreFinding } from "../../host/store/reading.ts";
export {
  entriesScope,
  grantsPath,
  grantsScope,
  ownStoreHome,
  recordKinds,
  storeHome,
  userHome,
} from "../../host/store/home.ts";
export type { Home } from "../../host/store/home.ts";
export type { HostRecords } from "../../host/store/host-records.ts";
export { openReaders } from "../../host/store/open-readers.ts";
export { digestOf } from "../../host/store/reading.ts";
export { noFiles, sizeOfFiles } from "../../host/store/reading.ts";
export type { KnownSizes, ScopeSize } from "../../host/store/reading.ts";
export { UserReader } from "../../host/store/reading.ts";
export type { StoreReaders, ThreadFiles } from "../../host/store/reading.ts";
export { defaultSettings } from "../../host/store/definition.ts";
export type { StoreSettings } from "../../host/store/definition.ts";
export type { HeldHistory } from "../../host/store/versions/present-origins.ts";
export { noVersion, unstatedFacts } from "../../host/store/versions/version.ts";
export type { WriteFacts } from "../../host/store/versions/version.ts";
export { movedTo } from "../../host/values/change-set.ts";
export type { Change, ChangeSet, Seen, SizedChange } from "../../host/values/change-set.ts";
export type { DecidedStores } from "../../host/values/store-grant.ts";
export { historyDefaults } from "../../host/values/history-limits.ts";
export type { StoreGrant } from "../../host/values/store-grant.ts";
export { isStoreId, ownStoreOf, scopeOfStore, storeOfScope } from "../../host/values/ids.ts";
export type { StoreId } from "../../host/values/ids.ts";
export { ToolError, asToolError } from "../../host/values/tool-error.ts";
export type { ToolResult } from "../../host/values/tool-result.ts";
export { checkUserId, isUserId } from "../../host/values/ids.ts";
export type { UserId } from "../../host/values/ids.ts";
export { isLive } from "../../host/store/grant-hints.ts";
export type { Handed } from "../../host/store/reading.ts";
export type { VersionKind } from "../../host/store/versions/version.ts";
export { modeOf, withHolds } from "./store-holds.ts";
export type {
  ChangesOfStore,
  CommitFacts,
  HeldStores,
  HeldToErase,
  HeldUser,
  HoldOptions,
  HoldToEraseOptions,
  OpenedStore,
  StoreHoldOptions,
} from "./store-holds.ts";
