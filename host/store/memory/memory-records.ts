import type { UserId } from "../../values/user-id.ts";
import { checkRecordName } from "../held-records.ts";
import type { HeldRecords } from "../held-records.ts";
import type { MemoryHistory } from "./memory-history.ts";

/** The host's records about all users of a store in memory. */
export class MemoryRecords {
  readonly #users = new Map<UserId, Map<string, string>>();

  /** `checkWrites` throws if the user is held for reading only. */
  of(userId: UserId, history: () => MemoryHistory, checkWrites: () => void): HeldRecords {
    const texts = (): Map<string, string> => this.#users.get(userId) ?? new Map<string, string>();
    const namesOf = (kind: string): string[] => {
      const ofKind = Array.from(texts().keys()).filter((key) => key.startsWith(`${kind}/`));
      return ofKind.map((key) => key.slice(kind.length + 1)).toSorted();
    };
    const bytesOf = (key: string): number => Buffer.byteLength(texts().get(key) ?? "");
    return {
      names: async (kind) => namesOf(kind),
      sizes: async (kind) => new Map(namesOf(kind).map((name) => [name, bytesOf(`${kind}/${name}`)])),
      read: async (kind, name) => texts().get(`${kind}/${name}`) ?? null,
      write: async (kind, name, text) => {
        checkWrites();
        checkRecordName(name);
        this.#users.set(userId, texts().set(`${kind}/${name}`, text));
      },
      loweredRuns: async () => ({ runs: await history().held.loweredRuns(), isWhole: true }),
      noteLowered: async (lowered) => {
        checkWrites();
        history().noteLowered(lowered, userId);
      },
      remove: async (kind, name) => {
        checkWrites();
        texts().delete(`${kind}/${name}`);
      },
    };
  }

  forget(userId: UserId): void {
    this.#users.delete(userId);
  }
}
