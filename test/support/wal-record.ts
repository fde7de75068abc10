/** Records of a WAL, as the host writes them. */
import * as format from "../../host/store/files/commit/wal-format.ts";
import type { WalRecord } from "../../host/store/files/commit/wal-format.ts";
import { atOnce } from "../../host/values/turns.ts";

export const encodeFiles = (record: WalRecord): Buffer => atOnce(format.encodeFiles(record));

export const encodeRecord = (salt: string, sequence: number, json: Buffer): Buffer =>
  Buffer.concat([atOnce(format.encodeHead(salt, sequence, json)), json]);
