import { InvalidArgumentError } from '../../errors.js';
import { parsePattern, type Assertion } from './parse-pattern.js';
import { buildGraph, type GraphNode, type PatternGraph } from './pattern-graph.js';

/** A regular expression that ignores case; what it costs is bounded, whoever wrote it. */
export interface Pattern {
  /**
   * Whether there is a match anywhere.
   * @throws {@link InvalidArgumentError} if this and earlier searches with the pattern took too long; it says how to simplify it
   */
  test(text: string): boolean;
}

/**
 * Prepares a pattern, such as one that a model wrote, for any number of texts.
 * @throws {@link InvalidArgumentError} if the pattern cannot be used: what is wrong, where (position), and what to write instead
 */
export function compilePattern(source: string): Pattern {
  return new LazyPattern(buildGraph(parsePattern(source)));
}

/** How much {@link LazyPattern.work} there may be: about 12 ms at most, 30 before the code is compiled. */
export const MOST_WORK = 300_000;
const MOST_STATES = 1_000;
/** The work for a new step beside one unit for each node. */
const STEP_WORK = 20;
/** The work of asking whether a set has a character. */
const SET_WORK = 2;

/** What an assertion wants to know of a character; the edge is where the text begins or ends. */
type CharacterKind = 'edge' | 'word' | 'other';

/** Characters that the pattern cannot tell apart. */
interface CharacterClass {
  readonly kind: CharacterKind;
  /** By set of the graph, whether it has them. */
  readonly accepted: readonly boolean[];
}

/** The class of what is before and after the text. */
const EDGE = 0;

/** All nodes where a search may be after some characters, and the kind of the last of them. */
class State {
  /** By class of the next character, as far as known. */
  readonly next: (State | undefined)[] = [];

  constructor(
    readonly before: CharacterKind,
    readonly nodes: readonly number[],
  ) {}
}

const MATCHED = new State('edge', []);

/** Turns the graph of a pattern into a deterministic automaton while it reads texts: a known step costs one look into a table. */
export class LazyPattern implements Pattern {
  readonly #graph: PatternGraph;
  readonly #readsWords: boolean;
  readonly #classes: CharacterClass[] = [{ kind: 'edge', accepted: [] }];
  readonly #classIndexes = new Map<string, number>();
  /** The class of each code unit; 0 where not yet known, as no character is of class 0. */
  readonly #basic = new Uint16Array(0x10000);
  /** The class of each code point above those. */
  readonly #others = new Map<number, number>();
  readonly #states = new Map<string, State>();
  #start = new State('edge', []);
  readonly #seen: Uint8Array;
  readonly #targets: Uint8Array;
  #work = 0;

  constructor(graph: PatternGraph) {
    this.#graph = graph;
    this.#readsWords = graph.nodes.some((node) => node.type === 'assertion' && node.assertion.endsWith('word-edge'));
    this.#seen = new Uint8Array(graph.nodes.length);
    this.#targets = new Uint8Array(graph.nodes.length);
  }

  /** What was spent on unknown steps and characters since the pattern was compiled, in units of at most 30 ns. */
  get work(): number {
    return this.#work;
  }

  test(text: string): boolean {
    let state = this.#start;
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at++;
      const index = (code > 0xffff ? this.#others.get(code) : this.#basic[code]) || this.#classify(code);
      state = state.next[index] ?? this.#learn(state, index);
      if (state === MATCHED) return true;
    }
    return (state.next[EDGE] ?? this.#learn(state, EDGE)) === MATCHED;
  }

  #classify(code: number): number {
    this.#spend(SET_WORK * (this.#graph.sets.length + 1));
    const character = String.fromCodePoint(code);
    const kind = this.#readsWords && /\w/iu.test(character) ? 'word' : 'other';
    const accepted = this.#graph.sets.map((set) => set.test(character));
    const key = kind + accepted.map(Number).join('');
    const index = this.#classIndexes.get(key) ?? this.#classes.push({ kind, accepted }) - 1;
    this.#classIndexes.set(key, index);
    if (code > 0xffff) this.#others.set(code, index);
    else this.#basic[code] = index;
    return index;
  }

  #learn(from: State, index: number): State {
    const { kind, accepted } = this.#classes[index] as CharacterClass;
    const targets = this.#targets.fill(0);
    let next: State | undefined;
    for (const node of this.#reached(from, kind)) {
      if (node.type === 'end') next = MATCHED;
      if (node.type === 'character' && accepted[node.set]) targets[node.next] = 1;
    }
    return (from.next[index] = next ?? this.#stateOf(kind, targets));
  }

  /** What a state leads to without reading: only when the next character is known can assertions be judged, so a match is seen one late. */
  #reached(from: State, after: CharacterKind): readonly GraphNode[] {
    const { start, nodes } = this.#graph;
    const reached: GraphNode[] = [];
    const seen = this.#seen.fill(0);
    const open = [start, ...from.nodes]; // a match may begin anywhere
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seen[index] === 1) continue;
      seen[index] = 1;
      const node = nodes[index] as GraphNode;
      reached.push(node);
      if (node.type === 'fork') open.push(node.next, node.other);
      else if (node.type === 'assertion' && holds(node.assertion, from.before, after)) open.push(node.next);
    }
    this.#spend(STEP_WORK + reached.length);
    return reached;
  }

  #stateOf(before: CharacterKind, targets: Uint8Array): State {
    const nodes: number[] = [];
    for (let node = 0; node < targets.length; node++) if (targets[node] === 1) nodes.push(node);
    const key = before + String.fromCharCode(...nodes);
    const state = this.#states.get(key) ?? new State(before, nodes);
    if (this.#states.size === MOST_STATES) this.#forget();
    this.#states.set(key, state);
    return state;
  }

  #forget(): void {
    this.#states.clear();
    this.#start = new State('edge', []);
  }

  #spend(units: number): void {
    if (this.#work + units > MOST_WORK) {
      const instead = String.raw`Use fewer and smaller counts, and fewer wildcards such as . or \w, above all before a count.`;
      throw new InvalidArgumentError(`The pattern cannot be used: searching for it takes too long. ${instead}`);
    }
    this.#work += units;
  }
}

function holds(assertion: Assertion, before: CharacterKind, after: CharacterKind): boolean {
  switch (assertion) {
    case 'text-start':
      return before === 'edge';
    case 'text-end':
      return after === 'edge';
    case 'word-edge':
      return (before === 'word') !== (after === 'word');
    case 'no-word-edge':
      return (before === 'word') === (after === 'word');
  }
}
