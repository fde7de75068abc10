/** A data folder that works on a real disk and records every effect. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Host } from "../store-under-test.ts";
import type { DiskNode, Effect, ModelledDisk } from "./modelled-disk.ts";
import { identityOf, recordedFolder } from "./recorded-folder.ts";
import type { DataRoot, Directory, EffectLog } from "./recorded-folder.ts";

export class Recording implements DataRoot, EffectLog {
  readonly effects: Effect[] = [];
  /** The present state. Effects are applied to it as they happen. */
  readonly disk: ModelledDisk;
  readonly #real: DataRoot;
  readonly #failureOf: Host["failureOfDisk"];
  readonly #path: string;
  /** Flushes that will fail: of which name, and how many of that name succeed first. */
  readonly #failing: { readonly name: string; after: number }[] = [];
  /** How many flushes have failed. */
  failures = 0;
  /** Whether nothing can become longer. */
  isFull = false;
  /** Runs while a flush is awaited, with the name of the file or folder. */
  meanwhile: ((name: string) => void) | null = null;

  /** The real folder at `path` must have the content of `disk`. */
  constructor({ DiskRoot, failureOfDisk }: Host, path: string, disk: ModelledDisk) {
    this.#real = new DiskRoot(path);
    this.#failureOf = failureOfDisk;
    this.#path = path;
    this.disk = disk;
  }

  open(): Directory | null {
    const real = this.#real.open();
    return real && recordedFolder(this, real, { id: 0, name: "data" });
  }

  identityNow(): string | null {
    return this.identityAt([]);
  }

  identityAt(names: readonly string[]): string | null {
    if (this.#real.identityAt(names) === null) return null;
    let node: DiskNode = { kind: "folder", id: 0 };
    for (const name of names) {
      const next = this.disk.find(node.id, name);
      if (next === undefined) return null;
      node = next;
    }
    return identityOf(node);
  }

  async make(): Promise<Directory> {
    return recordedFolder(this, await this.#real.make(), { id: 0, name: "data" });
  }

  add(effect: Effect): void {
    this.disk.apply(effect);
    this.effects.push(effect);
  }

  /** Saves without the store's knowledge, like a person's editor. */
  saveByHand(path: readonly string[], text: string | null, isOld = false): void {
    const real = join(this.#path, ...path);
    rmSync(real, { force: true });
    if (text !== null) {
      mkdirSync(dirname(real), { recursive: true });
      writeFileSync(real, text);
    }
    this.add({ kind: "person", path, content: text === null ? null : Buffer.from(text), isOld });
  }

  /** Writes everything to the disk, as a clean shutdown does. */
  settle(): void {
    const upTo = this.disk.count;
    for (const id of this.disk.files.keys()) this.add({ kind: "flush", node: { kind: "file", id }, upTo, isOk: true });
    for (const id of this.disk.folders.keys()) {
      this.add({ kind: "flush", node: { kind: "folder", id }, upTo, isOk: true });
    }
  }

  failFlush(name: string, after: number): void {
    this.#failing.push({ name, after });
  }

  /**
   * The disk is memory, so nothing is really flushed. Only the moment of the flush counts: a caller that does not wait
   * for it continues before its effect.
   */
  async flush(node: DiskNode, ownName: string): Promise<void> {
    // Of a journal, under whatever name it was opened.
    const name = ownName.endsWith(".log") || ownName === "staged-segment" ? "segment" : ownName;
    const upTo = this.disk.count;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.meanwhile?.(name);
    const isOk = !this.#isFailing(name);
    this.add({ kind: "flush", node, upTo, isOk });
    if (isOk) return;
    const error = Object.assign(new Error("EIO: i/o error, fsync"), { errno: -5, code: "EIO" });
    throw this.#failureOf(error, "flush");
  }

  refuseFull(): void {
    if (!this.isFull) return;
    const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { errno: -28, code: "ENOSPC" });
    throw this.#failureOf(error, "write");
  }

  #isFailing(name: string): boolean {
    const at = this.#failing.findIndex((each) => each.name === name);
    const failing = this.#failing[at];
    if (failing === undefined || failing.after-- > 0) return false;
    this.#failing.splice(at, 1);
    this.failures++;
    return true;
  }
}
