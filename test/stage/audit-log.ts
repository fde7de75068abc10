/** What an audit log has and what its verification finds. */
export { auditRecordSchema } from "../../host/audit/audit-record.ts";
export type { AuditEntry, AuditRecord, CallEntry, RefusedEntry, UseEntry } from "../../host/audit/audit-record.ts";
export { verifyLog } from "../../host/audit/verify/verify-log.ts";
export type { VerifyOptions } from "../../host/audit/verify/verify-log.ts";
