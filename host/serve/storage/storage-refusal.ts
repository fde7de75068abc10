/** Why a storage request is refused before any tool is called, with the status. `README.md` has the same table. */
export const storageRefusals = {
  "storage-unfit": 400,
  "storage-other-agent": 403,
  "storage-sharing-off": 403,
} as const;

export type StorageRefusalReason = keyof typeof storageRefusals;

export class StorageRefusal extends Error {
  readonly reason: StorageRefusalReason;
  readonly status: number;

  /** `message` is for the client. */
  constructor(reason: StorageRefusalReason, message: string) {
    super(message);
    this.reason = reason;
    this.status = storageRefusals[reason];
  }
}

export const unfit = (message: string): StorageRefusal => new StorageRefusal("storage-unfit", message);
