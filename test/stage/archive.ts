/** Zip files as a person gets them, for tests that make and read them. */
export { readArchive, writeArchive } from "../../host/archive/archive-file.ts";
export { readZip } from "../../host/archive/read-zip.ts";
export { transferLimits } from "../../host/archive/transfer-limits.ts";
export { zipOf } from "../../host/archive/write-zip.ts";
