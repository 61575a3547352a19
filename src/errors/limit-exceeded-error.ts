import type { ModelCallErrorOptions } from '../errors.js';
import { AdvisorChainError } from './advisor-chain-error.js';

/** Parts of an answer that had arrived, for a limit of a model call. */
type Received = Pick<ModelCallErrorOptions, 'partialText' | 'usage'>;

/** The limits of a turn. */
export type LimitKind =
  'calls-per-tool' | 'total-calls' | 'iterations' | 'identical-calls' | 'no-progress';

/** A limit, and what there was when it was reached. */
export interface LimitDetails<Result = unknown, Response = unknown> extends ErrorOptions, Received {
  /** Name of the limit, such as `iterations` or `response-bytes`. */
  readonly limit: string;
  /** The limit itself, in its unit. */
  readonly value: number;
  /** Name of the option that changes the limit. */
  readonly option: string;
  /** The tool, for a limit of one tool. */
  readonly toolName?: string | undefined;
  /** The transcript so far with a result for every call, for a limit of a turn. */
  readonly result?: Result;
  /** The answer that exceeded a limit of a turn, with the usage of the turn so far. */
  readonly response?: Response;
}

/** A turn, an answer or a value exceeded a limit; {@link option} names the option to raise. */
export class LimitExceededError<Result = unknown, Response = unknown>
  extends AdvisorChainError
  implements LimitDetails<Result, Response>
{
  override name = 'LimitExceededError';
  readonly code = 'limit_exceeded';
  readonly limit: string;
  readonly value: number;
  readonly option: string;
  readonly toolName: string | undefined;
  readonly result: Result;
  readonly response: Response;
  readonly partialText: string | undefined;
  readonly usage: Received['usage'];

  /** @param problem what exceeded the limit, without the next step: that is to raise the option */
  constructor(problem: string, details: LimitDetails<Result, Response>) {
    super(`${problem}; raise ${details.option} to change it.`, details);
    this.limit = details.limit;
    this.value = details.value;
    this.option = details.option;
    this.toolName = details.toolName;
    // a limit of a turn always has both
    this.result = details.result as Result;
    this.response = details.response as Response;
    this.partialText = details.partialText;
    this.usage = details.usage;
  }
}
