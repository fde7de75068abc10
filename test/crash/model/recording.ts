/** A data folder that does what it is asked to, on a real disk, and writes down every effect on the way. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { DataRoot } from "../../../host/disk/data-root.ts";
import type { EffectLog } from "./effect-log.ts";
import type { DiskNode, Effect } from "./effect.ts";
import type { ModelledDisk } from "./modelled-disk.ts";
import { RecordingDirectory } from "./recording-directory.ts";

export class Recording implements DataRoot, EffectLog {
  readonly effects: Effect[] = [];
  /** As it is now; effects are applied to it as they happen. */
  readonly disk: ModelledDisk;
  readonly #real: DataRoot;
  readonly #path: string;
  /** Names whose next flush fails, as often as they are in it. */
  readonly #failing: string[] = [];
  /** What happens while somebody waits for a flush, with the name of what is being flushed. */
  meanwhile: ((name: string) => Promise<void>) | null = null;

  /** The real folder at `path` must be as `disk` is. */
  constructor(real: DataRoot, path: string, disk: ModelledDisk) {
    this.#real = real;
    this.#path = path;
    this.disk = disk;
  }

  open(): RecordingDirectory | null {
    const real = this.#real.open();
    return real && new RecordingDirectory(this, real, { id: 0, name: "data" });
  }

  identityNow(): string | null {
    return this.#real.identityNow();
  }

  async make(): Promise<RecordingDirectory> {
    return new RecordingDirectory(this, await this.#real.make(), { id: 0, name: "data" });
  }

  add(effect: Effect): void {
    this.disk.apply(effect);
    this.effects.push(effect);
  }

  /** Below the store's back, as a person's editor does it. */
  saveByHand(path: readonly string[], text: string | null): void {
    const real = join(this.#path, ...path);
    rmSync(real, { force: true });
    if (text !== null) {
      mkdirSync(dirname(real), { recursive: true });
      writeFileSync(real, text);
    }
    this.add({ kind: "person", path, content: text === null ? null : Buffer.from(text) });
  }

  /** As before an orderly end of the machine: everything reaches the disk. */
  settle(): void {
    const upTo = this.disk.count;
    for (const id of this.disk.files.keys()) this.add({ kind: "flush", node: { kind: "file", id }, upTo, isOk: true });
    for (const id of this.disk.folders.keys()) {
      this.add({ kind: "flush", node: { kind: "folder", id }, upTo, isOk: true });
    }
  }

  failNextFlush(name: string): void {
    this.#failing.push(name);
  }

  /**
   * The disk is memory, so nothing is really flushed; what counts is when it would be done. Whoever does not wait for it
   * goes on before its effect.
   */
  async flush(node: DiskNode, name: string): Promise<void> {
    const upTo = this.disk.count;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    await this.meanwhile?.(name);
    const at = this.#failing.indexOf(name);
    if (at !== -1) this.#failing.splice(at, 1);
    this.add({ kind: "flush", node, upTo, isOk: at === -1 });
    if (at !== -1) throw Object.assign(new Error("EIO: i/o error, fsync"), { errno: -5, code: "EIO" });
  }
}
