import { InvalidArgumentError } from '../errors.js';
import { parsePattern, type Assertion, type Syntax } from './parse-pattern.js';

/** Maximum number of nodes of a pattern. */
const MAX_NODES = 500;
/** Maximum number of steps of all searches with one pattern, plus a number for each character. */
const MAX_STEPS = 500_000;
const STEPS_PER_CHARACTER = 16;
/** Number of steps that the check of one character against one set of characters counts. */
const SET_STEPS = 10;

/** A step of the search; all nodes have the same fields, which keeps their access fast. */
interface Node {
  readonly type: 'end' | 'character' | 'fork' | Assertion;
  /** Indexes of the nodes that follow. */
  readonly next: number;
  readonly other: number;
  /** Index of the set of a character. */
  readonly set: number;
}

type CharacterKind = 'edge' | 'word' | 'other';

interface CharacterClass {
  readonly kind: CharacterKind;
  /** By index of sets, whether the set contains the character. */
  readonly accepted: readonly boolean[];
}

const TEXT_EDGE: CharacterClass = { kind: 'edge', accepted: [] };

/**
 * A regular expression that ignores case and takes linear time, for patterns of models and users:
 * all paths through a nondeterministic automaton are followed at once (Thompson 1968).
 */
export class Pattern {
  private readonly nodes: Node[] = [];
  /** Expressions for one character, by their source. */
  private readonly sets = new Map<string, RegExp>();
  private readonly classes = new Map<number, CharacterClass>();
  private readonly start: number;
  /** By node, the position at which it was last reached; positions of all searches differ. */
  private readonly reachedAt: Uint32Array;
  private position = 0;
  private steps = 0;

  /** @throws {@link InvalidArgumentError} if the pattern is invalid: the problem, its position, and what to write instead */
  constructor(source: string) {
    this.start = this.build(parsePattern(source), this.addNode('end', 0));
    this.reachedAt = new Uint32Array(this.nodes.length);
  }

  /**
   * Searches for a match anywhere in the text.
   * @throws {@link InvalidArgumentError} if this and earlier searches took too many steps
   */
  test(text: string): boolean {
    this.steps -= STEPS_PER_CHARACTER * text.length;
    let reached: number[] = [];
    let before = TEXT_EDGE;
    for (let at = 0; at <= text.length;) {
      const code = text.codePointAt(at);
      const after = code === undefined ? TEXT_EDGE : this.classOf(code);
      const next = this.advance(reached, before.kind, after);
      if (next === 'matched') return true;
      at += code !== undefined && code > 0xffff ? 2 : 1;
      [reached, before] = [next, after];
    }
    return false;
  }

  /** Follows all paths up to the next character and past it; a match may start at any position. */
  private advance(
    reached: number[],
    before: CharacterKind,
    after: CharacterClass,
  ): number[] | 'matched' {
    const { nodes, reachedAt } = this;
    const position = ++this.position;
    const next: number[] = [];
    const open = reached;
    open.push(this.start);
    let steps = 0;
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (reachedAt[index] === position) continue;
      reachedAt[index] = position;
      steps++;
      const node = nodes[index] as Node;
      if (node.type === 'end') return 'matched';
      if (node.type === 'character') {
        if (after.accepted[node.set]) next.push(node.next);
      } else if (node.type === 'fork') {
        if (reachedAt[node.other] !== position) open.push(node.other);
        if (reachedAt[node.next] !== position) open.push(node.next);
      } else if (holds(node.type, before, after.kind)) open.push(node.next);
    }
    this.countSteps(steps);
    return next;
  }

  private classOf(code: number): CharacterClass {
    const known = this.classes.get(code);
    if (known) return known;
    this.countSteps(SET_STEPS * this.sets.size);
    const character = String.fromCodePoint(code);
    const accepted = Array.from(this.sets.values(), (set) => set.test(character));
    const added = { kind: /\w/iu.test(character) ? 'word' : 'other', accepted } as const;
    this.classes.set(code, added);
    return added;
  }

  private countSteps(steps: number): void {
    this.steps += steps;
    if (this.steps <= MAX_STEPS) return;
    const instead = String.raw`Use fewer and smaller counts, and fewer wildcards such as . or \w, above all before a count.`;
    throw new InvalidArgumentError(
      `The pattern cannot be used: searching for it takes too long. ${instead}`,
    );
  }

  private addNode(type: Node['type'], next: number, other = next, set = 0): number {
    if (this.nodes.length < MAX_NODES) return this.nodes.push({ type, next, other, set }) - 1;
    const instead =
      'Use smaller counts such as {3}, or * or +, above all inside of a group that is itself repeated.';
    throw new InvalidArgumentError(
      `The pattern cannot be used: its counts make it larger than ${MAX_NODES} steps. ${instead}`,
    );
  }

  /** Adds the nodes of a part that continues at `next`, at least one; returns the first of them. */
  private build(syntax: Syntax, next: number): number {
    switch (syntax.type) {
      case 'character':
        return this.addNode('character', next, next, this.setOf(syntax.accepts));
      case 'assertion':
        return this.addNode(syntax.assertion, next);
      case 'sequence':
        if (syntax.parts.length === 0) return this.addNode('fork', next);
        return syntax.parts.reduceRight((after, part) => this.build(part, after), next);
      case 'alternatives':
        return syntax.choices
          .map((choice) => this.build(choice, next))
          .reduce((other, start) => this.addNode('fork', start, other));
      case 'repeat':
        return this.buildRepeat(syntax.body, syntax.min, syntax.max, next);
    }
  }

  private buildRepeat(body: Syntax, min: number, max: number, next: number): number {
    if (max === 0) return this.addNode('fork', next);
    let start = next;
    if (max === Infinity) {
      start = this.addNode('fork', next);
      this.nodes[start] = { type: 'fork', next: this.build(body, start), other: next, set: 0 };
    } else
      for (let count = min; count < max; count++)
        start = this.addNode('fork', this.build(body, start), next);
    for (let count = 0; count < min; count++) start = this.build(body, start);
    return start;
  }

  private setOf(accepts: string): number {
    if (!this.sets.has(accepts)) this.sets.set(accepts, new RegExp(accepts, 'iu'));
    return [...this.sets.keys()].indexOf(accepts);
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
