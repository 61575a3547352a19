import { CONTEXT_LENGTH, findAll, type GuardFinding, type TextRule } from './guard-rule.js';

/** Text in the place of a finding. */
export type Replacement = (kind: string) => string;

/** `[email]` for an e-mail address. */
export const KIND_IN_BRACKETS: Replacement = (kind) => `[${kind}]`;

/** Number of released characters that are kept before the buffer is cut, besides the context. */
const KEPT = 256;
/** A search is repeated when the text has grown by this fraction of what is held back. */
const GROWTH = 1 / 16;

/** Replaces all findings of the rules in a complete text; overlapping ones are one finding. */
export function redact(
  text: string,
  rules: readonly TextRule[],
  replacement: Replacement = KIND_IN_BRACKETS,
): { readonly text: string; readonly findings: readonly GuardFinding[] } {
  const findings = merged(rules.flatMap((rule) => [...findAll(rule, text)]));
  let [shown, at] = ['', 0];
  for (const { start, end, kind } of findings) {
    shown += text.slice(at, start) + replacement(kind);
    at = end;
  }
  return { text: shown + text.slice(at), findings };
}

/**
 * Replaces findings in a text that arrives in pieces. What it returns adds up to `redact(text)` for
 * any pieces, and no character of a finding is in any of it.
 */
export class StreamRedactor {
  /** Findings so far, overlapping ones as one; positions are in the whole text. */
  readonly findings: GuardFinding[] = [];
  /** The end of the text. */
  private buffer = '';
  /** The first half of a character of two UTF-16 units, whose other half is not there yet. */
  private half = '';
  /** Number of characters of the text before the buffer. */
  private dropped = 0;
  /** Indexes in the buffer: of what was not shown, and for each rule of what it has not settled. */
  private shown = 0;
  private readonly settled: number[];
  /** Length of the buffer at which the next search is due. */
  private due = 0;
  /** Findings that were not shown, with indexes in the buffer. */
  private pending: GuardFinding[] = [];

  constructor(
    private readonly rules: readonly TextRule[],
    private readonly replacement: Replacement = KIND_IN_BRACKETS,
  ) {
    this.settled = rules.map(() => 0);
  }

  /** Number of characters that are held back. */
  get held(): number {
    return this.buffer.length + this.half.length - this.shown;
  }

  /** @returns the text that is safe to show, possibly empty */
  push(delta: string): string {
    this.buffer += this.half + delta;
    this.half = '';
    const last = this.buffer.charCodeAt(this.buffer.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.half = this.buffer.slice(-1);
      this.buffer = this.buffer.slice(0, -1);
    }
    return this.buffer.length < this.due ? '' : this.advance(false);
  }

  /** @returns the rest of the text; the redactor is ready for another text then */
  end(): string {
    this.buffer += this.half;
    this.half = '';
    const rest = this.advance(true);
    this.drop(this.buffer.length);
    this.due = 0;
    return rest;
  }

  private advance(ended: boolean): string {
    const { buffer, rules, settled } = this;
    let cut = buffer.length;
    for (let at = 0; at < rules.length; at++) {
      const scan = (rules[at] as TextRule).scan(buffer, settled[at] as number, ended);
      settled[at] = scan.settled;
      if (scan.settled < cut) cut = scan.settled;
      if (scan.findings.length > 0) this.pending.push(...scan.findings);
    }
    const text = this.pending.length > 0 ? this.showFindings(cut) : this.show(cut);
    if (this.shown > KEPT + CONTEXT_LENGTH) this.drop(this.shown - CONTEXT_LENGTH);
    this.due = this.buffer.length + Math.floor(this.held * GROWTH);
    return text;
  }

  private show(end: number): string {
    const text = this.buffer.slice(this.shown, end);
    this.shown = end;
    return text;
  }

  private showFindings(cut: number): string {
    let text = '';
    let held = cut;
    for (const { start, end, kind } of merged(this.pending)) {
      if (end > cut) {
        held = Math.min(held, start);
        break;
      }
      text += this.show(start) + this.replacement(kind);
      this.shown = end;
      this.findings.push({ start: start + this.dropped, end: end + this.dropped, kind });
    }
    text += this.show(held);
    this.pending = this.pending.filter(({ start }) => start >= this.shown);
    return text;
  }

  private drop(count: number): void {
    this.buffer = this.buffer.slice(count);
    this.dropped += count;
    this.shown -= count;
    for (let at = 0; at < this.settled.length; at++)
      this.settled[at] = (this.settled[at] ?? 0) - count;
    this.pending = this.pending.map(({ start, end, kind }) => ({
      start: start - count,
      end: end - count,
      kind,
    }));
  }
}

/** Findings in order; those that overlap are one, of the kind of the first. */
function merged(findings: readonly GuardFinding[]): GuardFinding[] {
  const sorted = findings.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || (a.kind < b.kind ? -1 : 1),
  );
  const result: GuardFinding[] = [];
  for (const finding of sorted) {
    const last = result.at(-1);
    if (last && finding.start < last.end)
      result[result.length - 1] = { ...last, end: Math.max(last.end, finding.end) };
    else if (finding.end > finding.start) result.push(finding);
  }
  return result;
}
