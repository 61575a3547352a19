import type { ToolDefinition } from '../chat/tool-definition.js';
import { fillArguments, type Arguments, type Draft } from './offline-arguments.js';
import type { Scope } from './offline-candidates.js';
import { factsOf, type Fact } from './offline-facts.js';
import { needsOf, type Need } from './offline-needs.js';
import { parametersOf, type Parameter } from './offline-parameters.js';
import { OfflineRanking } from './offline-ranking.js';
import { completeFromResults } from './offline-results.js';
import { callKey, type Turn } from './offline-turn.js';
import { isVague, stemsOf } from './offline-words.js';

/** A call that the offline model wants to make. */
export interface PlannedCall {
  readonly name: string;
  readonly args: Arguments;
}

/** What a tool lacks. */
export interface Lack {
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

/** What to do next in a turn. */
export interface Plan {
  /** Calls that can be made now, none of which was answered in this turn. */
  readonly calls: readonly PlannedCall[];
  /** Tools that fit, but for which neither the question nor a result has the values. */
  readonly lacks: readonly Lack[];
}

/** Tools that only look something up, so that they may be asked for a value that another tool needs. */
const LOOKS_UP = /^(?:get|find|search|list|look|lookup|query|fetch|read|show|retrieve|check|resolve)/i;

/** Decides on the next calls. Depends on the turn and the tools alone. */
export class Planner {
  private readonly facts: readonly Fact[];
  private readonly ranking: OfflineRanking;
  private readonly parameters: ReadonlyMap<ToolDefinition, readonly Parameter[]>;
  private readonly done: ReadonlySet<string>;

  constructor(
    private readonly turn: Turn,
    private readonly tools: readonly ToolDefinition[],
  ) {
    const vocabulary = new Set(tools.flatMap((tool) => stemsOf(`${tool.name} ${tool.description}`)));
    this.facts = factsOf(turn.question, (stem) => vocabulary.has(stem));
    this.ranking = new OfflineRanking(tools);
    this.parameters = new Map(tools.map((tool) => [tool, parametersOf(tool.inputSchema)]));
    this.done = new Set(turn.answered.map((call) => callKey(call.name, call.args)));
  }

  /** @param forced a tool that must be called, or true if any must */
  plan(forced: ToolDefinition | boolean = false): Plan {
    const needs = needsOf(this.turn, this.facts, this.ranking, forced);
    const drafts = needs.flatMap((need) => this.draftsFor(need, needs).map((draft) => ({ need, draft })));
    const ready = drafts
      .filter(({ draft }) => draft.missing.length === 0)
      .map(({ need, draft }) => ({ name: need.tool.name, args: draft.args }));
    const open = drafts.filter(({ draft }) => draft.missing.length > 0);
    const calls = this.fresh(ready);
    if (calls.length > 0) return { calls, lacks: [] };
    const plan = this.fromResults(
      open.map(({ need, draft }) => ({ tool: need.tool, need, draft })),
      needs,
    );
    const [first] = open;
    const mustCall = forced !== false && first && this.turn.answered.length === 0;
    // a forced call may not ask: it is made with what there is, and its schema says what is missing
    return mustCall && !plan.calls.some((call) => typeof forced !== 'object' || call.name === forced.name)
      ? { calls: [{ name: first.need.tool.name, args: first.draft.args }], lacks: [] }
      : plan;
  }

  /** Calls that wait for values: from results, or from a tool that can look them up. */
  private fromResults(open: readonly Waiting[], needs: readonly Need[]): Plan {
    const calls: PlannedCall[] = [];
    const lacks: Lack[] = [];
    for (const waiting of open) {
      if (this.turn.answered.some((call) => call.name === waiting.tool.name) && this.wasCompleted(waiting)) continue;
      const results = this.turn.answered.filter((call) => !call.isError && call.name !== waiting.tool.name);
      const args = this.waitsFor(waiting, open) ? [] : completeFromResults(waiting.draft, results);
      const more = args.length > 0 ? args.map((one) => ({ name: waiting.tool.name, args: one })) : this.lookUps(waiting, needs);
      calls.push(...more);
      if (args.length === 0 && more.length === 0) lacks.push({ name: waiting.tool.name, parameters: waiting.draft.missing });
    }
    const fresh = this.fresh(calls);
    return { calls: fresh, lacks: fresh.length > 0 ? [] : lacks };
  }

  /** Whether a call with the values of the question was already completed and made. */
  private wasCompleted({ tool, draft }: Waiting): boolean {
    return this.turn.answered.some(
      (call) =>
        call.name === tool.name &&
        Object.entries(draft.args).every(([name, value]) => JSON.stringify(call.args[name]) === JSON.stringify(value)),
    );
  }

  /** Whether another tool that is still open yields what this one lacks. */
  private waitsFor({ tool, draft }: Waiting, open: readonly Waiting[]): boolean {
    const at = open.findIndex((other) => other.tool === tool);
    return open
      .slice(0, at)
      .some(
        (other) => other.tool !== tool && !this.wasCompleted(other) && draft.missing.some((parameter) => yields(other.tool, parameter)),
      );
  }

  private lookUps({ tool, need, draft }: Waiting, needs: readonly Need[]): readonly PlannedCall[] {
    const sources = this.tools.filter(
      (other) => other !== tool && LOOKS_UP.test(other.name) && draft.missing.some((parameter) => yields(other, parameter)),
    );
    for (const source of sources) {
      const drafts = this.draftsFor({ ...need, tool: source, start: 0, end: this.turn.question.length }, needs);
      const ready = drafts.filter((one) => one.missing.length === 0).map((one) => ({ name: source.name, args: one.args }));
      if (ready.length > 0) return this.fresh(ready);
    }
    return [];
  }

  private draftsFor(need: Need, needs: readonly Need[]): readonly Draft[] {
    const drafts = fillArguments(this.parametersOf(need.tool), this.scopeOf(need, needs));
    const same = needs.filter((other) => other.tool === need.tool);
    return same.length > 1 && !drafts[0]?.isOwn && need !== same.at(-1) ? [] : drafts;
  }

  private scopeOf(need: Need, needs: readonly Need[]): Scope {
    const own = new Set([...stemsOf(need.tool.name), ...need.because]);
    const others = needs.filter((other) => other.tool !== need.tool);
    return {
      text: this.turn.question,
      facts: this.facts,
      start: need.start,
      end: need.end,
      isToolWord: (stem) => own.has(stem),
      rivals: others.flatMap((other) => this.parametersOf(other.tool)),
      mayQuote: (words) => !others.some((other) => stemsOf(words).some((stem) => other.because.has(stem))),
    };
  }

  private parametersOf(tool: ToolDefinition): readonly Parameter[] {
    return this.parameters.get(tool) ?? [];
  }

  /** Each call once, and none that was answered. */
  private fresh(calls: readonly PlannedCall[]): readonly PlannedCall[] {
    const byKey = new Map(calls.map((call) => [callKey(call.name, call.args), call]));
    return [...byKey].filter(([key]) => !this.done.has(key)).map(([, call]) => call);
  }
}

interface Waiting {
  readonly tool: ToolDefinition;
  readonly need: Need;
  readonly draft: Draft;
}

/** Whether a tool's name says that it finds what a parameter wants. */
function yields(tool: ToolDefinition, { stems }: Parameter): boolean {
  const name = stemsOf(tool.name);
  return stems.some((stem) => !isVague(stem) && name.includes(stem));
}
