import { InvalidArgumentError } from '../../errors.js';
import type { Assertion, Syntax } from './parse-pattern.js';

const MOST_NODES = 500;

/** One step of the search; `set` is an index of sets, `next` and `other` are indexes of nodes. */
export type GraphNode =
  | { readonly type: 'end' }
  | { readonly type: 'character'; readonly set: number; readonly next: number }
  | { readonly type: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly type: 'fork'; readonly next: number; readonly other: number };

/** A pattern as a nondeterministic automaton with its counts written out (Thompson's construction). */
export interface PatternGraph {
  readonly start: number;
  readonly nodes: readonly GraphNode[];
  /** Each matches single characters. */
  readonly sets: readonly RegExp[];
}

/** @throws {@link InvalidArgumentError} if the counts make the pattern too large */
export function buildGraph(syntax: Syntax): PatternGraph {
  const builder = new GraphBuilder();
  const start = builder.build(syntax, builder.add({ type: 'end' }));
  return { start, nodes: builder.nodes, sets: Array.from(builder.sets.keys(), (accepts) => new RegExp(accepts, 'iu')) };
}

/** Builds from the end to the start, so that what follows a node is known when it is added. */
class GraphBuilder {
  readonly nodes: GraphNode[] = [];
  /** The index of each by its source. */
  readonly sets = new Map<string, number>();

  add(node: GraphNode): number {
    if (this.nodes.length < MOST_NODES) return this.nodes.push(node) - 1;
    const message = `The pattern cannot be used: its counts make it larger than ${MOST_NODES} steps. Use smaller counts such as {3}, or * or +, above all inside of a group that is itself repeated.`;
    throw new InvalidArgumentError(message);
  }

  /** The node where the search for this begins that goes on at `next`; it adds at least one, so that nested counts of nothing end too. */
  build(syntax: Syntax, next: number): number {
    switch (syntax.type) {
      case 'character':
        return this.add({ type: 'character', set: this.#setOf(syntax.accepts), next });
      case 'assertion':
        return this.add({ type: 'assertion', assertion: syntax.assertion, next });
      case 'sequence':
        return syntax.parts.length === 0
          ? this.#fork(next, next)
          : syntax.parts.reduceRight((after, part) => this.build(part, after), next);
      case 'alternatives':
        return syntax.choices.map((choice) => this.build(choice, next)).reduce((other, start) => this.#fork(start, other));
      case 'repeat':
        return this.#repeat(syntax.body, syntax.min, syntax.max, next);
    }
  }

  #repeat(body: Syntax, min: number, max: number, next: number): number {
    if (max === 0) return this.#fork(next, next);
    let start = max === Infinity ? this.#loop(body, next) : next;
    if (max !== Infinity) for (let count = min; count < max; count++) start = this.#fork(this.build(body, start), next);
    for (let count = 0; count < min; count++) start = this.build(body, start);
    return start;
  }

  /** The body any number of times. */
  #loop(body: Syntax, next: number): number {
    const fork = this.#fork(next, next);
    this.nodes[fork] = { type: 'fork', next: this.build(body, fork), other: next };
    return fork;
  }

  #fork(next: number, other: number): number {
    return this.add({ type: 'fork', next, other });
  }

  #setOf(accepts: string): number {
    const index = this.sets.get(accepts) ?? this.sets.size;
    this.sets.set(accepts, index);
    return index;
  }
}
