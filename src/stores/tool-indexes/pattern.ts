import { InvalidArgumentError } from '../../core/errors/errors.js';
import { PatternParser, type Automaton, type CharacterKind, type State } from './parse-pattern.js';

/** Maximum number of steps of all searches with one pattern, besides those for each character. */
const MAX_STEPS = 500_000;
const STEPS_PER_CHARACTER = 16;
/** Number of steps that the check of one character against one set of characters counts. */
const SET_STEPS = 10;

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
  private readonly automaton: Automaton;
  private readonly classes = new Map<number, CharacterClass>();
  private position = 0;
  private steps = 0;

  /** @throws {@link InvalidArgumentError} if the pattern is invalid: the problem, its position, and what to write instead */
  constructor(source: string) {
    this.automaton = new PatternParser(source).parse();
  }

  /**
   * Searches for a match anywhere in the text.
   * @throws {@link InvalidArgumentError} if this and earlier searches took too many steps
   */
  test(text: string): boolean {
    this.steps -= STEPS_PER_CHARACTER * text.length;
    let reached: State[] = [];
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
    open: State[],
    before: CharacterKind,
    after: CharacterClass,
  ): State[] | 'matched' {
    const position = ++this.position;
    const next: State[] = [];
    let steps = 0;
    open.push(this.automaton.start);
    for (let state = open.pop(); state; state = open.pop()) {
      if (state.reachedAt === position) continue;
      state.reachedAt = position;
      steps++;
      if (state.type === 'end') return 'matched';
      if (state.type === 'character') {
        if (after.accepted[state.set]) next.push(state.next as State);
      } else if (state.type === 'fork') open.push(state.other as State, state.next as State);
      else if (state.holds?.(before, after.kind)) open.push(state.next as State);
    }
    this.countSteps(steps);
    return next;
  }

  private classOf(code: number): CharacterClass {
    const known = this.classes.get(code);
    if (known) return known;
    this.countSteps(SET_STEPS * this.automaton.sets.length);
    const character = String.fromCodePoint(code);
    const accepted = this.automaton.sets.map((set) => set.test(character));
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
}
