import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import type { Decision } from '../../core/chat/paused-turn.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import type { RunReport } from '../../core/chat/run-report.js';
import { errorLine } from '../error-line.js';
import type { FinishedTurn } from './finished-turn.js';
import type { Screen } from './screen.js';
import type { TerminalDecisions } from './terminal-decisions.js';
import { TurnPrinter } from './turn-printer.js';

/** A question that is asked, with its request. */
export interface AskedTurn {
  readonly question: string;
  readonly model: string;
  readonly request: PromptSpec;
  /** Continues a paused turn with the decisions of a person. */
  readonly resume: (idOrState: string, decisions: Record<string, Decision>) => PromptSpec;
  readonly signal: AbortSignal;
}

/** Runs a turn and shows it; resolves with how it ended, and never rejects. */
export async function runTurn(
  { question, model, request, resume, signal }: AskedTurn,
  screen: Screen,
  decisions: TerminalDecisions,
): Promise<FinishedTurn> {
  const printer = new TurnPrinter(screen);
  const end = (
    outcome: FinishedTurn['outcome'],
    run: RunReport | undefined,
    more: Partial<FinishedTurn> = {},
  ): FinishedTurn => ({ question, model, outcome, run, answer: undefined, ...more });
  try {
    let response = await show(request.signal(signal), printer);
    for (let { paused } = response.response; paused; { paused } = response.response) {
      const decided: Record<string, Decision> = {};
      for (const each of paused.requests) decided[each.id] = await decisions.decide(each, signal);
      const resumed = resume(paused.id ?? paused.state, decided).signal(signal);
      response = await show(resumed, printer);
    }
    return end('answered', response.run, { answer: response.response.text ?? '' });
  } catch (error) {
    printer.endAnswer();
    const { run } = (error ?? {}) as { readonly run?: RunReport };
    if (signal.aborted) {
      screen.note('cancelled', 'yellow');
      return end('cancelled', run);
    }
    screen.note(`Error: ${errorLine(error)}`, 'red');
    return end('failed', run, { error: errorLine(error) });
  }
}

/** Shows the events of a run; resolves with its last one. */
async function show(request: PromptSpec, printer: TurnPrinter): Promise<ResponseEvent> {
  let last: ChatEvent | undefined;
  for await (const event of request.stream().events()) {
    printer.show(event);
    last = event;
  }
  return last as ResponseEvent; // a run ends with its response, or with an error
}
