import type { DiskNode, Effect } from "./effect.ts";
import type { ModelledDisk } from "./modelled-disk.ts";

/** Where recorded folders and files write down what they do. */
export interface EffectLog {
  /** As it is now. */
  readonly disk: ModelledDisk;
  add(effect: Effect): void;
  flush(node: DiskNode, name: string): Promise<void>;
}
