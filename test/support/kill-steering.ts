import {
  SteeringAdvisor,
  SteeringInbox,
  type Advisor,
  type ModelCallRecord,
  type SteeringMode,
} from '../../src/index.js';

const STEERED = 'Be quick, please.';
/** The first iteration whose request brings the user to send: an interruption gives that request up. */
const BEGIN = { steer: 0, interrupt: 1, queue: Infinity };

/** The user: sends a message to a turn that runs, until a request has it. */
export class SteeringUser {
  readonly advisors: readonly Advisor[];
  private readonly inbox = new SteeringInbox();

  constructor(private readonly mode: SteeringMode | undefined) {
    this.advisors = mode ? [new SteeringAdvisor({ inbox: this.inbox })] : [];
  }

  /** Sends the message during a request, unless it has it. */
  look(body: string, iteration: number): void {
    const { mode } = this;
    if (!mode || iteration < BEGIN[mode] || body.includes(STEERED)) return;
    void this.inbox.send(STEERED, { mode });
  }
}

/** The times that a transcript has the message. */
export const countSteered = (transcript: unknown): number =>
  Array.isArray(transcript) ? transcript.filter(isSteered).length : 0;

/**
 * The outcome of a turn without the message, which stands elsewhere if it was sent again, and
 * without the calls that it has interrupted.
 */
export function withoutSteered(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((each) => !isSteered(each) && !isInterrupted(each)).map(withoutSteered);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, withoutSteered(each)] as const);
  return { ...Object.fromEntries(fields), ...('outcome' in value && { attempt: undefined }) };
}

const isSteered = (value: unknown): boolean =>
  (value as { readonly content?: unknown } | null)?.content === STEERED;
const isInterrupted = (value: unknown): boolean =>
  (value as Partial<ModelCallRecord> | null)?.outcome === 'cancelled';
