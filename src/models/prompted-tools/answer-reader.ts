import { LimitExceededError } from '../../core/errors/errors.js';
import type { PlanSyntax } from './plan-syntax.js';

const THINKING = /^\n\s{0,100}<(?:think|thinking|reasoning)>/i;
/** A text that may become one that begins with thinking. */
const MAYBE_THINKING =
  /^\n\s{0,100}(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:ng?)?)?)?)?)?)?|r(?:e(?:a(?:s(?:o(?:n(?:i(?:ng?)?)?)?)?)?)?)?)?)?$/i;
const END_OF_THINKING = /<\/(?:think|thinking|reasoning)>/i;
const LONGEST_END = '</reasoning>'.length;
/** No label of a plain answer is longer. */
const LONGEST_LABEL = 40;
/** Spaces and line breaks before a plan that are not shown. */
const MAX_SPACE = 100;

/**
 * Divides the text of an answer, as it arrives, into what can be shown and a plan. Text is shown once
 * it is certain that no plan begins with it; after the beginning of a plan nothing is shown.
 */
export class AnswerReader {
  /** The text shown so far. */
  text = '';
  /** Thoughts before a plain answer, in formats that have them. */
  thought = '';
  /** Number of characters read. */
  length = 0;
  private state: 'start' | 'thinking' | 'text' | 'plan' | 'answer' = 'start';
  /** Text that is not shown yet. Begins with a line break, so that each line does. */
  private rest = '\n';
  private isFirst = true;
  /** Length of the thinking, in which a plan is a draft. */
  private thinking = 0;
  /** The end of a plan, in which a plain answer may begin. */
  private tail = '';
  /** Text that was not taken yet. */
  private fresh = '';

  constructor(
    private readonly syntax: PlanSyntax,
    private readonly maxPlanLength: number,
  ) {}

  /** The plan after the end, with all that follows it; undefined for a plain answer. */
  get plan(): string | undefined {
    return this.state === 'plan' ? this.rest : undefined;
  }

  /** True if a part of a plan is shown, in a form that was not recognized as one. */
  get showsMark(): boolean {
    return this.syntax.mark.test(this.text.slice(this.thinking));
  }

  /**
   * Adds what can be shown of a further piece to {@link text}.
   * @throws {@link LimitExceededError} if a plan is too long
   */
  read(text: string): void {
    this.length += text.length;
    this.rest += text;
    if (this.state === 'start') this.readStart();
    if (this.state === 'thinking') this.readThinking();
    if (this.state === 'plan') this.readPlan(text);
    if (this.state === 'text') this.readText();
    if (this.state === 'answer') this.readAnswer();
  }

  /** The text shown since the last call. */
  take(): string {
    const { fresh } = this;
    this.fresh = '';
    return fresh;
  }

  /** Ends the answer, so that all of a plain one is shown. */
  end(): void {
    if (this.state !== 'plan') this.show(this.rest.length);
  }

  /** Shows a text that only looked like a plan, such as thoughts without a call. */
  showPlan(): void {
    if (this.state !== 'plan') return;
    const plain = this.rest.trimStart().replace(/^Thought:\s*/, '');
    this.rest = this.text === '' ? plain : `\n${plain}`;
    this.show(this.rest.length);
  }

  private readStart(): void {
    if (THINKING.test(this.rest)) this.state = 'thinking';
    else if (!MAYBE_THINKING.test(this.rest)) this.state = 'text';
  }

  private readThinking(): void {
    const end = END_OF_THINKING.exec(this.rest);
    this.show(end ? end.index + end[0].length : Math.max(0, this.rest.length - LONGEST_END));
    if (!end) return;
    this.thinking = this.text.length;
    this.state = 'text';
    this.rest = `\n${this.rest}`;
    this.isFirst = true; // again: lines begin after the thinking
  }

  private readText(): void {
    const { whole, partial } = this.syntax.opening;
    const opening = whole.exec(this.rest);
    const end = opening?.index ?? this.rest.search(partial);
    const before = this.rest.slice(Math.max(0, end - MAX_SPACE), end);
    this.show(end - (before.length - before.trimEnd().length));
    if (!opening) return;
    this.rest = `\n${this.rest.trimStart()}`;
    this.isFirst = false;
    this.state = 'plan';
    this.readPlan(this.rest);
  }

  private readPlan(added: string): void {
    if (this.rest.length > this.maxPlanLength) throw this.exceeded();
    const { answer, mark } = this.syntax;
    if (!answer) return;
    // the end alone: looking through the whole for each piece would take quadratic time
    this.tail = this.tail.slice(-LONGEST_LABEL) + added;
    const found = answer.whole.exec(this.tail);
    if (!found) return;
    const begin = this.rest.length - this.tail.length + found.index;
    const thought = this.rest.slice(0, begin);
    this.tail = this.tail.slice(found.index + found[0].length);
    if (mark.test(thought)) return;
    this.thought = thought.replace(/^\s*Thought:/, '').trim();
    this.rest = this.tail;
    this.state = 'answer';
  }

  private readAnswer(): void {
    if (this.text === '') this.rest = this.rest.trimStart();
    this.show(this.rest.length);
  }

  private exceeded(): LimitExceededError {
    const { maxPlanLength: value } = this;
    return new LimitExceededError(`The plan of the model has more than ${value} characters`, {
      limit: 'plan-length',
      value,
      spent: this.rest.length,
      option: 'maxPlanLength',
    });
  }

  /** Shows the rest up to a position. */
  private show(end: number): void {
    // the line break at the beginning is not part of the answer
    const start = this.isFirst && end > 0 ? 1 : 0;
    if (start > 0) this.isFirst = false;
    const shown = this.rest.slice(start, end);
    this.text += shown;
    this.fresh += shown;
    this.rest = this.rest.slice(end);
  }
}
