import type { DiskNode, Effect } from "./effect.ts";
import type { ModelledDisk } from "./modelled-disk.ts";

/** Receives the effects of recorded folders and files. */
export interface EffectLog {
  /** The disk's present state. */
  readonly disk: ModelledDisk;
  add(effect: Effect): void;
  flush(node: DiskNode, name: string): Promise<void>;
}
