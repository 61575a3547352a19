import type { Decision, PendingRequest, QuestionRequest } from '../../core/chat/paused-turn.js';
import type { Line } from './line-editor.js';
import { readAnswer } from './read-answer.js';
import { inOneLine, printable, type Screen } from './screen.js';

/** Reads a line; undefined if there is no person to ask. */
export type AskLine = ((prompt: string, signal: AbortSignal) => Promise<Line>) | undefined;

const UNATTENDED = 'It needs the approval of a person, and the chat has no terminal to ask at.';
const NO_ANSWER = 'There is no terminal at which a person could answer.';

/** Asks the person at the terminal for decisions, one after another: calls of one answer are shown at once. */
export class TerminalDecisions {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly screen: Screen,
    private readonly askLine: AskLine,
    /** Called if the person leaves the question by Ctrl-C or Ctrl-D. */
    private readonly onLeave: () => void,
  ) {}

  /** Decides about one request. */
  decide(request: PendingRequest, signal: AbortSignal): Promise<Decision> {
    const decision = this.last.then(() => this.decideNow(request, signal));
    this.last = decision.catch(() => undefined);
    return decision;
  }

  private decideNow(request: PendingRequest, signal: AbortSignal): Promise<Decision> | Decision {
    signal.throwIfAborted();
    if (request.type === 'client-tool')
      return { type: 'cancel', reason: 'The chat has no program that runs this tool.' };
    const ask = this.askLine;
    if (!ask) return this.decline(request);
    return this.screen.holdDuring(() => {
      this.show(request);
      const read = (prompt: string): Promise<string | undefined> => this.read(ask, prompt, signal);
      return request.type === 'approval' ? this.approve(request, read) : this.answer(request, read);
    });
  }

  private decline(request: Exclude<PendingRequest, { readonly type: 'client-tool' }>): Decision {
    const { toolName } = request;
    if (request.type === 'approval') {
      this.screen.note(
        `  denied ${toolName}: it needs an approval, and there is no terminal. --approve=never runs all tools; effect: 'read' marks one that changes nothing`,
        'yellow',
      );
      return { type: 'deny', reason: UNATTENDED };
    }
    this.screen.note(`  no answer for ${toolName}: there is no terminal`, 'yellow');
    return { type: 'cancel', reason: NO_ANSWER };
  }

  private show(request: PendingRequest): void {
    const { toolName, prompt, hiddenText, problem } = request;
    this.screen.printNow(this.screen.style('yellow', `? ${printable(prompt)}`));
    if (request.type === 'approval') {
      const written = JSON.stringify(request.arguments);
      this.screen.printNow(`  ${toolName} ${printable(written)}`);
    }
    if (hiddenText) this.screen.printNow(`  hidden characters: ${printable(hiddenText)}`);
    if (problem) this.screen.printNow(`  ${inOneLine(printable(problem), this.screen.width)}`);
  }

  private async approve(
    request: PendingRequest & { readonly type: 'approval' },
    read: (prompt: string) => Promise<string | undefined>,
  ): Promise<Decision> {
    const canAllowAll = request.scopes.includes('conversation');
    for (;;) {
      const text = await read(canAllowAll ? 'run it? [y]es, [n]o, [a]lways: ' : 'run it? [y/n]: ');
      const answer = text?.trim().toLowerCase();
      if (answer === undefined || answer === 'n' || answer === 'no') return { type: 'deny' };
      if (answer === 'y' || answer === 'yes') return { type: 'allow' };
      if (canAllowAll && (answer === 'a' || answer === 'always'))
        return { type: 'allow', scope: 'conversation' };
    }
  }

  private async answer(
    { schema }: QuestionRequest,
    read: (prompt: string) => Promise<string | undefined>,
  ): Promise<Decision> {
    const value = await readAnswer(schema, { read, print: (text) => this.screen.printNow(text) });
    return value === undefined
      ? { type: 'cancel', reason: 'The user has not answered.' }
      : { type: 'answer', value };
  }

  /** @throws the reason of the signal, if the question is over */
  private async read(
    ask: NonNullable<AskLine>,
    prompt: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    signal.throwIfAborted();
    const line = await ask(prompt, signal);
    if (line.type === 'line') return line.text;
    signal.throwIfAborted();
    this.onLeave();
    return undefined;
  }
}
