import type { StoreCopy } from "../store/copying.ts";

export interface CopyWay {
  readonly from: StoreCopy;
  readonly to: StoreCopy;
  /** `state`: in the host's own words. */
  readonly onProgress: (state: string) => void;
}

/** Something about a home that whoever copies has to know. */
export interface ToldHome {
  /** A user's id, or `stores/<id>`. Can contain any character. */
  readonly home: string;
  readonly told: string;
}
