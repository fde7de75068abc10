/** The public API of memcell. Anything that is not exported here can change without notice. */
// oxlint-disable-next-line import/no-unassigned-import -- ends a bundle before the packages in it fail
import "./values/package-file.ts";

export { createRuntime } from "./runtime/runtime.ts";
export type { AuditLogOptions } from "./audit/audit-log.ts";
export type { CallContext } from "./values/call-context.ts";
export type { CallOrigin } from "./values/origin.ts";
export type { OriginClass } from "../shared/origin.ts";
export type { EntryOrigin } from "../shared/entry-origin.ts";
export { modelAnswer } from "../shared/model-answer.ts";
export type { ModelAnswer } from "../shared/model-answer.ts";
export { originLines } from "../shared/origin-lines.ts";
export type { ContextStore } from "./values/call-context.ts";
export type { ContextualAccess, ContextualKind } from "./values/asked-program.ts";
export type { MemoryChange, PendingNotice } from "./values/memory-change.ts";
export type { Mount } from "./values/mount.ts";
export type { Refusal } from "./values/refusal.ts";
export type { Runtime } from "./runtime/api.ts";
export type { RuntimeOptions } from "./runtime/options.ts";
export type { InternalEntry, InternalFlags, UserStores } from "./runtime/user-stores.ts";
export type { GrantedAccess, NewGrant, ReachableStore } from "./owner/store-access.ts";
export type { AccessLevel, AccessSource } from "../shared/shared-scope.ts";
export { storeIdOf } from "./values/ids.ts";
export type {
  EntriesChoice,
  EntryName,
  EntryText,
  FamilyChoice,
  MemoryEntry,
  MemoryFamily,
} from "./runtime/memory-families.ts";
export { fileStore } from "./store/files/define-files.ts";
export type { FileStoreOptions } from "./store/files/define-files.ts";
export { memoryStore } from "./store/memory/memory-engine.ts";
export { postgresStore } from "./store/postgres/define-postgres.ts";
export type { PostgresStoreOptions } from "./store/postgres/define-postgres.ts";
export type { AskedWrite, WriteHook, WrittenFile } from "./values/asked-program.ts";
export type { StoreDefinition } from "./store/definition.ts";
export { CredentialDetector } from "./detect/credentials.ts";
export type { CredentialDetectorOptions } from "./detect/credentials.ts";
export type { LogEntry } from "./log/log-entry.ts";
export type { ObjectSchema, ToolDescription } from "./plugins/tool-description.ts";
export type {
  AnthropicTool,
  OpenAiChatTool,
  OpenAiResponsesTool,
  ToolFormat,
  ToolFormats,
} from "./plugins/formats/tool-formats.ts";
export type {
  HostToolInput,
  HostToolName,
  HostToolOutput,
  HostToolTypes,
  ToolInput,
  ToolName,
  ToolOutput,
  ToolTypes,
} from "./runtime/tool-types.ts";
export type { PolicyFile } from "./plugins/policy/policy-schema.ts";
export { ToolError } from "./values/tool-error.ts";
export type { FailedResult, PluginFailure, TableFailure, ToolFailure, ToolResult } from "./values/tool-result.ts";
export { errorTable } from "../shared/errors.ts";
export type { AnyErrorCode, ErrorCode, ErrorEntry } from "../shared/errors.ts";
export type { PluginError } from "../shared/manifest.ts";
export type { InputIssue } from "../shared/envelope.ts";
export type {
  ExportOptions,
  ImportOptions,
  ImportPlan,
  LeftOutFile,
  MemoryExport,
  MoveInOptions,
  MoveInPlan,
  OnProgress,
  OpenExport,
  RefusedFile,
} from "./owner/memory-files.ts";
export type { ExportedFile, ForeignFile, ImportedFile, MemoryFile, UnreadFile } from "./values/memory-file.ts";
export type { ErasedContent, EraseOptions, ErasePlan, Erasure, LeftOver } from "./owner/erase-plan.ts";
export type { DiffOptions, FileDiff, FileVersion, HistoryOptions, RestoredVersion } from "./owner/file-version.ts";
export type { Finding } from "./owner/finding.ts";
export type {
  ChangedEntry,
  ChangeSource,
  EntryChoice,
  FileFacts,
  ListedEntry,
  OwnEntries,
  ShownEntry,
  TrashedFile,
} from "./owner/own-entry.ts";
export type {
  Approval,
  ApproveOptions,
  ShownFile,
  ShownWrite,
  WaitingFile,
  WaitingWrite,
} from "./owner/waiting-write.ts";
export type { BuiltOnFile, LeftFile, UndoOptions, UndoPlan } from "./owner/undo-plan.ts";
export type { Upkeep } from "./owner/upkeep.ts";
