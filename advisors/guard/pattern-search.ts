import { CONTEXT_LENGTH, type GuardFinding, type TextScan } from './guard-rule.js';
import { OpenPattern } from './open-pattern.js';

/** A pattern and the kind of what it finds. */
export interface KindPattern {
  readonly kind: string;
  readonly pattern: RegExp;
  /**
   * Number of characters of the match that are a finding, 0 if none is, such as the digits that pass
   * a checksum.
   * @default the whole match
   */
  readonly lengthOf?: ((match: string) => number) | undefined;
}

const WORD_START = '(?<![\\dA-Za-z])';
/** Beginning of most patterns of kinds: the letter of an escaped line break or tab is no letter. */
const BOUNDARY = '(?<![\\dA-Za-z](?<!\\\\[nrt]))';

/** A pattern that is also found in JSON, after an escaped line break or tab. */
export function inJson({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(WORD_START, BOUNDARY), flags);
}

/** Searches a text of which more may follow for patterns with the same flags. */
export class PatternSearch {
  /** A place where the result is undecided, or a match, which is the group. */
  private readonly either: RegExp;
  private readonly complete: RegExp;
  private readonly single: readonly RegExp[];

  /**
   * @param overlapping true if a finding may begin within another one
   * @throws {@link InvalidArgumentError} if a pattern cannot be used
   */
  constructor(
    where: string,
    private readonly kinds: readonly KindPattern[],
    private readonly overlapping: boolean,
  ) {
    const parts = kinds.map(({ pattern }) =>
      new OpenPattern(where, pattern, CONTEXT_LENGTH).parse(),
    );
    const flags = (kinds[0]?.pattern.flags ?? '').replace(/[dgy]/g, '');
    const complete = `(${anyOf(parts.map(({ all }) => all))})`;
    const open = anyOf(parts.flatMap((part) => part.open ?? []));
    this.complete = new RegExp(complete, `${flags}g`);
    this.either = open ? new RegExp(`${open}|${complete}`, `${flags}g`) : this.complete;
    this.single = parts.map(({ all }) => new RegExp(all, `${flags}y`));
  }

  scan(text: string, from: number, ended: boolean): TextScan {
    const expression = ended ? this.complete : this.either;
    const findings: GuardFinding[] = [];
    for (let at = from; ;) {
      expression.lastIndex = at;
      const found = expression.exec(text);
      if (!found) return { findings, settled: text.length };
      if (found[1] === undefined) return { findings, settled: found.index };
      const finding = this.findingAt(text, found.index);
      if (finding) findings.push(finding);
      at =
        finding && !this.overlapping ? finding.end : afterCharacter(text, found.index, expression);
    }
  }

  private findingAt(text: string, start: number): GuardFinding | undefined {
    for (let at = 0; at < this.kinds.length; at++) {
      const { kind, lengthOf } = this.kinds[at] as KindPattern;
      const expression = this.single[at] as RegExp;
      expression.lastIndex = start;
      const match = expression.exec(text)?.[0];
      const length = match && (lengthOf?.(match) ?? match.length);
      if (length) return { start, end: start + length, kind };
    }
    return undefined;
  }
}

/** Alternatives; the beginning that most of them have is tried once at each place. */
function anyOf(sources: readonly string[]): string {
  const bounded = sources.flatMap((source) =>
    source.startsWith(BOUNDARY) ? source.slice(BOUNDARY.length) : [],
  );
  const others = sources.filter((source) => !source.startsWith(BOUNDARY));
  return [...(bounded.length > 0 ? [`${BOUNDARY}(?:${bounded.join('|')})`] : []), ...others].join(
    '|',
  );
}

/** The index after a character, which may be a surrogate pair if the flag u is set. */
function afterCharacter(text: string, at: number, { unicode }: RegExp): number {
  return at + (unicode && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
