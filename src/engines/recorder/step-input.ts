import type { Prompt } from '../../core/chat/prompt.js';
import type { ModelCallSite } from '../../core/chat/run-recorder.js';
import { NonDeterminismError } from '../../core/errors/errors.js';
import { inputHash } from './input-hash.js';

/** The input of a model call: what was sent, and the advisors that made it of the request. */
export type StepInput = {
  readonly input: number;
  /** Hash of the request before any advisor, then name and hash of each that changed the messages. */
  readonly origins?: Origins;
};

type Origins = readonly (readonly [advisor: string, input: number])[];

const REQUEST = '';

export function inputOf(call: ModelCallSite, sent: Prompt): StepInput {
  const input = inputHash(sent);
  const origins: (readonly [string, number])[] = [];
  let after = inputHash(call.prompt);
  for (const { advisor, received } of call.origins()) {
    const before = inputHash(received);
    if (before !== after) origins.unshift([advisor, after]);
    after = before;
  }
  if (origins.length === 0) return { input };
  origins.unshift([REQUEST, after]);
  return { input, origins };
}

/** @throws {@link NonDeterminismError} if the input differs from the recorded one */
export function checkInput(stepName: string, recorded: StepInput, now: StepInput): void {
  if (recorded.input === now.input) return;
  const advisor = firstDifference(recorded, now);
  const source = advisor === undefined ? 'the request itself differs' : `advisor "${advisor}" changed it otherwise`; // prettier-ignore
  throw new NonDeterminismError(
    `The turn ran again, but its step "${stepName}" sends another request than the recorded one: ${source}. ${ADVICE}`,
    stepName,
    advisor,
  );
}

const ADVICE =
  'Take what changes (the time, a random number, a search) from the input of the turn, or from a step of the engine.';

function firstDifference(recorded: StepInput, now: StepInput): string | undefined {
  const [before, after] = [originsIn(recorded), originsIn(now)];
  const { length } = before.length > after.length ? before : after;
  for (let at = 0; at < length; at++) {
    const [then, [name, input] = []] = [before[at], after[at]];
    if (then?.[0] === name && then?.[1] === input) continue;
    return (name ?? then?.[0]) || undefined;
  }
  return undefined;
}

const originsIn = ({ input, origins = [[REQUEST, input]] }: StepInput): Origins => origins;
