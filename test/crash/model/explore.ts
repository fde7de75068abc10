/**
 * Runs a script once, then crashes it everywhere: after each effect the power is cut, in many ways, or the process is
 * killed. Each time a new process recovers, and that run is crashed in the same way again.
 */
import { seededRandom } from "../../support/seeded-random.ts";
import type { Step } from "../homes/step.ts";
import type { Subject } from "../homes/subject.ts";
import { memoryFolder, readTree, treeKey, writeTree } from "../homes/tree.ts";
import type { Host } from "../store-under-test.ts";
import { diskAfter, plainWays, presentTree, randomWay } from "./crash-states.ts";
import type { EditRule, Expected } from "./expected-memory.ts";
import { nothingExpected } from "./expected-memory.ts";
import { ModelledDisk } from "./modelled-disk.ts";
import { Play } from "./play.ts";
import { Recording } from "./recording.ts";
import { recoveryScript } from "./recovery-script.ts";

export interface Exploration {
  readonly name: string;
  readonly script: readonly Step[];
  readonly subject: Subject;
  readonly seed: number;
  /** The number of random states to try after each effect, besides the plain ones. Below 1: the probability of one. */
  readonly density: number;
  /** The probability of a kill after each effect of what is crashed. Default 0.7. */
  readonly kills?: number;
  readonly problemsMax?: number;
  /** It ends after so many states. */
  readonly statesMax?: number;
}

export interface Findings {
  /** The number of distinct pairs of tree and expectation that were recovered and checked. */
  states: number;
  readonly problems: string[];
}

/** The life of one process: the disk that it starts with, and the allowed expectations. */
interface Life {
  readonly from: ModelledDisk;
  readonly possible: readonly Expected[];
  readonly script: readonly Step[];
  readonly rule: EditRule;
  /** How often the machine has started. */
  readonly boot: number;
  /** The number of consecutive crashes before this life. */
  readonly depth: number;
  readonly isKilled?: boolean;
  readonly way: string;
}

/** The maximum number of consecutive crashes. */
const depthMax = 2;

export async function explore(host: Host, exploration: Exploration): Promise<Findings> {
  const explorer = new Explorer(host, exploration);
  const possible = [nothingExpected];
  const { script } = exploration;
  const way = `${exploration.name}, seed ${exploration.seed}`;
  // After a failed flush the system may show content that is not on the disk, so an edit looks like a torn file.
  const rule = script.some((step) => step.do === "fail flush") ? "in place or in the trash" : "as made";
  await explorer.live({ from: new ModelledDisk(), possible, script, rule, boot: 1, depth: 0, way });
  return explorer.findings;
}

class Explorer {
  readonly findings: Findings = { states: 0, problems: [] };
  readonly #host: Host;
  readonly #exploration: Exploration;
  readonly #random: () => number;
  readonly #known = new Set<string>();

  /** A script that restarts the machine is not killed: the number of the start would be unknown here. */
  readonly #isKilling: boolean;
  readonly #hasFailures: boolean;

  constructor(host: Host, exploration: Exploration) {
    this.#host = host;
    this.#hasFailures = exploration.script.some((step) => step.do === "fail flush");
    this.#isKilling = exploration.script.every((step) => step.do !== "restart");
    this.#exploration = exploration;
    this.#random = seededRandom(exploration.seed);
  }

  async live(life: Life): Promise<void> {
    if (this.#isEnough) return;
    using folder = memoryFolder();
    writeTree(presentTree(life.from), folder.path);
    const recording = new Recording(this.#host, folder.path, life.from.clone());
    const setup = {
      host: this.#host,
      subject: this.#exploration.subject,
      recording,
      path: folder.path,
      boot: `boot-${life.boot}`,
      rule: life.rule,
      keepsDoubts: this.#hasFailures && life.depth > 0,
    };
    const play = new Play(setup, life.possible);
    try {
      await play.run(life.script);
      this.#checkEnd(life, recording, folder.path);
    } catch (error) {
      const notes = play.notes.map((each) => `\n    note: ${each}`).join("");
      this.findings.problems.push(`${life.way}: ${(error as Error).message}${notes}`);
      return;
    }
    if (this.#random() < this.#crashShare(life)) await this.#crash(life, recording, play);
  }

  /** The probability that a life is crashed in turn: 1 for a script, less for a recovery. */
  #crashShare({ depth, isKilled }: Life): number {
    if (depth >= depthMax) return 0;
    return depth === 0 ? 1 : isKilled ? 0.4 : 0.12;
  }

  async #crash(life: Life, { effects }: Recording, play: Play): Promise<void> {
    const disk = life.from.clone();
    // A script is crashed everywhere, a recovery at some random points.
    const share = life.depth === 0 ? 1 : 0.4;
    for (const [at, effect] of [null, ...effects].entries()) {
      if (effect) disk.apply(effect);
      if (this.#isEnough) return;
      if (this.#random() >= share) continue;
      const possible = play.possibleAt(at);
      const next = { possible, depth: life.depth + 1, way: `${life.way} > ${at} (${effect?.kind ?? "start"})` };
      await this.#cutPower(life, next, disk);
      // Assumes that no process is killed between a failed flush and the mark that notes it.
      const isNoting = effect?.kind === "flush" && !effect.isOk;
      if (this.#isKilling && !isNoting && this.#random() < (this.#exploration.kills ?? 0.7))
        await this.#kill(life, next, disk);
    }
  }

  async #cutPower(life: Life, next: Pick<Life, "possible" | "depth" | "way">, disk: ModelledDisk): Promise<void> {
    const { density } = this.#exploration;
    const randomCount = Math.floor(density) + (this.#random() < density % 1 ? 1 : 0);
    const ways = [...(density >= 1 || this.#random() < density ? plainWays : [])];
    for (let count = 0; count < randomCount; count++) ways.push(randomWay(this.#random, disk.count));
    for (const [number, each] of ways.entries()) {
      const from = diskAfter(disk, each);
      const tree = presentTree(from);
      const isNew = this.#isNew(`cut ${treeKey(tree)}`, next.possible);
      if (!isNew) continue;
      await this.live({
        ...next,
        from,
        script: recoveryScript(this.#exploration.subject, this.#random, tree, next.depth),
        rule: "in place or in the trash",
        boot: life.boot + 1,
        isKilled: false,
        way: `${next.way}, power cut ${number}`,
      });
    }
  }

  async #kill(life: Life, next: Pick<Life, "possible" | "depth" | "way">, disk: ModelledDisk): Promise<void> {
    const tree = presentTree(disk);
    if (!this.#isNew(`kill ${treeKey(tree)} ${disk.unsettled}`, next.possible)) return;
    const script = recoveryScript(this.#exploration.subject, this.#random, tree, next.depth);
    const rule = life.rule === "as made" ? "in place" : life.rule;
    const killed = { script, rule, isKilled: true, way: `${next.way}, killed` } as const;
    await this.live({ ...life, ...next, from: disk.clone(), ...killed });
  }

  #isNew(key: string, possible: readonly Expected[]): boolean {
    const whole = [key, ...possible.map(({ name }) => name)].join("|");
    if (this.#known.has(whole)) return false;
    this.#known.add(whole);
    this.findings.states++;
    return true;
  }

  #checkEnd({ depth, script }: Life, { disk }: Recording, path: string): void {
    const tree = presentTree(disk);
    if (treeKey(tree) !== treeKey(readTree(path))) throw new Error("The recording differs from the disk");
    const staged = this.#exploration.subject.stagedIn(tree);
    if (depth > 0 && script.length > 0 && staged.length > 0) throw new Error(`left behind: ${staged.join(", ")}`);
  }

  get #isEnough(): boolean {
    const { problemsMax = 5, statesMax = Infinity } = this.#exploration;
    return this.findings.problems.length >= problemsMax || this.findings.states >= statesMax;
  }
}
