/** Does the operations of the data's owner, for programs. */
import type { CallContext } from "../values/call-context.ts";
import type { Action, OwnerOperation } from "./define-operation.ts";
import { mendedOf, ofStore } from "./doctor.ts";
import { openExport } from "./export.ts";
import { inputFrom } from "./field.ts";
import type { Fields, InputOf } from "./field.ts";
import type { Finding } from "./finding.ts";
import { finishAllErased } from "./finish-erased.ts";
import { operate, readOnly } from "./operate.ts";
import type { UpkeepParts } from "./operation.ts";
import { operations, ownerOperations } from "./table.ts";
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

  readonly inspect: Upkeep["inspect"] = (ctx) => this.#do(operations.inspect, ctx);
  readonly mend: Upkeep["mend"] = (ctx) => this.#do(operations.mend, ctx);
  readonly entries: Upkeep["entries"] = (ctx) => this.#do(operations.listEntries, ctx);
  readonly search: Upkeep["search"] = (ctx, words) => this.#do(operations.search, ctx, {}, { words: [words] });
  readonly add: Upkeep["add"] = (ctx, text, options) => this.#do(operations.add, ctx, options, { text });
  readonly entry: Upkeep["entry"] = (ctx, name, options) => this.#do(operations.showEntry, ctx, options, { name });
  readonly edit: Upkeep["edit"] = (ctx, name, text, options) => this.#do(operations.edit, ctx, options, { name, text });
  readonly trash: Upkeep["trash"] = (ctx, name, options) => this.#do(operations.trash, ctx, options, { name });
  readonly vouch: Upkeep["vouch"] = (ctx, name, ifSha256, options) =>
    this.#do(operations.vouch, ctx, options, { name, ifSha256 });
  readonly runs: Upkeep["runs"] = (ctx) => this.#do(operations.runs, ctx);
  readonly listTrash: Upkeep["listTrash"] = (ctx) => this.#do(operations.listTrash, ctx);
  readonly restore: Upkeep["restore"] = (ctx, name, options) => this.#do(operations.restore, ctx, options, { name });
  readonly purge: Upkeep["purge"] = (ctx, options) => this.#do(operations.purge, ctx, options);
  readonly history: Upkeep["history"] = (ctx, options) => this.#do(operations.history, ctx, options);
  readonly diff: Upkeep["diff"] = (ctx, name, options) => this.#do(operations.diff, ctx, options, { name });
  readonly restoreVersion: Upkeep["restoreVersion"] = (ctx, name, options) =>
    this.#do(operations.restoreVersion, ctx, options, { name });
  readonly undo: Upkeep["undo"] = (ctx, options) => this.#do(operations.undo, ctx, options);
  readonly planUndo: Upkeep["planUndo"] = (ctx, options) => this.#plan(operations.undo, ctx, options);
  readonly export: Upkeep["export"] = (ctx, options) => this.#do(operations.exportMemory, ctx, options);
  readonly openExport: Upkeep["openExport"] = (ctx, options = {}) =>
    this.#act(operations.exportMemory, openExport, [ctx, options]);
  readonly import: Upkeep["import"] = (ctx, files, options) =>
    this.#do(operations.importMemory, ctx, options, { files });
  readonly planImport: Upkeep["planImport"] = (ctx, files, options) =>
    this.#plan(operations.importMemory, ctx, options, { files });
  readonly moveIn: Upkeep["moveIn"] = (ctx, files, options) => this.#do(operations.moveIn, ctx, options, { files });
  readonly planMoveIn: Upkeep["planMoveIn"] = (ctx, files, options) =>
    this.#plan(operations.moveIn, ctx, options, { files });
  readonly erase: Upkeep["erase"] = (ctx, options) => this.#do(operations.erase, ctx, options);
  readonly planErase: Upkeep["planErase"] = (ctx) => this.#plan(operations.erase, ctx);
  readonly pending: Upkeep["pending"] = (ctx) => this.#do(operations.listPending, ctx);
  readonly showPending: Upkeep["showPending"] = (ctx, id) => this.#do(operations.showPending, ctx, {}, { id });
  readonly approve: Upkeep["approve"] = (ctx, id, options) => this.#do(operations.approve, ctx, options, { id });
  readonly reject: Upkeep["reject"] = (ctx, id) => this.#do(operations.reject, ctx, {}, { id });

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
