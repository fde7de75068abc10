/** Does the operations of the data's owner, for programs. */
import type { CallContext } from "../values/call-context.ts";
import type { Action, OwnerOperation } from "./define-operation.ts";
import { inspect, mend, mendedOf, ofStore } from "./doctor.ts";
import { add, edit, trash, vouch } from "./edit.ts";
import { listEntries, search, showEntry } from "./entries.ts";
import { erase } from "./erase.ts";
import { exportMemory } from "./export.ts";
import { inputFrom } from "./field.ts";
import type { Fields, InputOf } from "./field.ts";
import type { Finding } from "./finding.ts";
import { finishAllErased } from "./finish-erased.ts";
import { diff, history, restoreVersion } from "./history.ts";
import { importMemory } from "./import.ts";
import { moveIn } from "./move-in.ts";
import { operate, readOnly } from "./operate.ts";
import type { UpkeepParts } from "./operation.ts";
import { approve, listPending, reject, showPending } from "./pending.ts";
import { restore } from "./restore.ts";
import { runs } from "./sources.ts";
import { ownerOperations } from "./table.ts";
import { listTrash, purge } from "./trash.ts";
import { undo } from "./undo.ts";
import type { Upkeep } from "./upkeep.ts";

/** What a method was given: the options, and what stands beside them, by the names of its fields. */
type Asked = readonly [ctx: CallContext, options?: object, operands?: Readonly<Record<string, unknown>>];

export class LocalUpkeep implements Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  async users(): Promise<string[]> {
    this.#parts.admission.checkOpen("list users");
    return (await this.#parts.store.users()).toSorted();
  }

  async strays(): Promise<Finding[]> {
    this.#parts.admission.checkOpen("list users");
    return (await this.#parts.store.strays()).map(ofStore);
  }

  async mendStrays(): Promise<Finding[]> {
    const { admission, store, isReadOnly } = this.#parts;
    using _arrived = admission.arrive();
    if (isReadOnly) throw readOnly("mend what is no user's");
    const before = await this.strays();
    await finishAllErased(store, admission.waitMs);
    return mendedOf(before, await this.strays());
  }

  readonly inspect: Upkeep["inspect"] = (ctx) => this.#do(inspect, ctx);
  readonly mend: Upkeep["mend"] = (ctx) => this.#do(mend, ctx);
  readonly entries: Upkeep["entries"] = (ctx) => this.#do(listEntries, ctx);
  readonly search: Upkeep["search"] = (ctx, words) => this.#do(search, ctx, {}, { words: [words] });
  readonly add: Upkeep["add"] = (ctx, text, options) => this.#do(add, ctx, options, { text });
  readonly entry: Upkeep["entry"] = (ctx, name, options) => this.#do(showEntry, ctx, options, { name });
  readonly edit: Upkeep["edit"] = (ctx, name, text, options) => this.#do(edit, ctx, options, { name, text });
  readonly trash: Upkeep["trash"] = (ctx, name, options) => this.#do(trash, ctx, options, { name });
  readonly vouch: Upkeep["vouch"] = (ctx, name, ifSha256, options) => this.#do(vouch, ctx, options, { name, ifSha256 });
  readonly runs: Upkeep["runs"] = (ctx) => this.#do(runs, ctx);
  readonly listTrash: Upkeep["listTrash"] = (ctx) => this.#do(listTrash, ctx);
  readonly restore: Upkeep["restore"] = (ctx, name, options) => this.#do(restore, ctx, options, { name });
  readonly purge: Upkeep["purge"] = (ctx, options) => this.#do(purge, ctx, options);
  readonly history: Upkeep["history"] = (ctx, options) => this.#do(history, ctx, options);
  readonly diff: Upkeep["diff"] = (ctx, name, options) => this.#do(diff, ctx, options, { name });
  readonly restoreVersion: Upkeep["restoreVersion"] = (ctx, name, options) =>
    this.#do(restoreVersion, ctx, options, { name });
  readonly undo: Upkeep["undo"] = (ctx, options) => this.#do(undo, ctx, options);
  readonly planUndo: Upkeep["planUndo"] = (ctx, options) => this.#plan(undo, ctx, options);
  readonly export: Upkeep["export"] = (ctx, options) => this.#do(exportMemory, ctx, options);
  readonly import: Upkeep["import"] = (ctx, files, options) => this.#do(importMemory, ctx, options, { files });
  readonly planImport: Upkeep["planImport"] = (ctx, files, options) =>
    this.#plan(importMemory, ctx, options, { files });
  readonly moveIn: Upkeep["moveIn"] = (ctx, files, options) => this.#do(moveIn, ctx, options, { files });
  readonly planMoveIn: Upkeep["planMoveIn"] = (ctx, files, options) => this.#plan(moveIn, ctx, options, { files });
  readonly erase: Upkeep["erase"] = (ctx, options) => this.#do(erase, ctx, options);
  readonly planErase: Upkeep["planErase"] = (ctx) => this.#plan(erase, ctx);
  readonly pending: Upkeep["pending"] = (ctx) => this.#do(listPending, ctx);
  readonly showPending: Upkeep["showPending"] = (ctx, id) => this.#do(showPending, ctx, {}, { id });
  readonly approve: Upkeep["approve"] = (ctx, id, options) => this.#do(approve, ctx, options, { id });
  readonly reject: Upkeep["reject"] = (ctx, id) => this.#do(reject, ctx, {}, { id });

  perform(name: string, ctx: CallContext, input: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const of = ownerOperations.find((each) => each.name === name || each.plan?.name === name);
    if (of === undefined) throw new TypeError(`perform(): unknown operation ${JSON.stringify(name)}`);
    return of.name === name ? this.#do(of, ctx, input) : this.#plan(of, ctx, input);
  }

  #do<Of extends Fields, Result>(of: OwnerOperation<Of, Result>, ...asked: Asked): Promise<Result> {
    return this.#act(of, of, asked);
  }

  #plan<Of extends Fields, Planned>(of: OwnerOperation<Of, unknown, Planned>, ...asked: Asked): Promise<Planned> {
    if (of.plan === undefined) throw new RangeError(`${of.name} has no plan`);
    return this.#act(of, of.plan, asked);
  }

  /** Throws a `TypeError` for an input that does not fit. */
  #act<Of extends Fields, Result>(
    of: OwnerOperation<Of>,
    action: Action<InputOf<Of>, Result>,
    [ctx, options, operands = {}]: Asked,
  ): Promise<Result> {
    const read = inputFrom(of, options, operands);
    if ("clause" in read) throw new TypeError(`${action.name}(): ${read.clause}`);
    return operate(this.#parts, action, ctx, (operation) => action.run(operation, read.input));
  }
}
