import { AdvisorOrder, type Advisor, type Next } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/core/advisor/chat-client-response.js';
import type { Message } from '../src/core/chat/message.js';
import { OUTPUT_FORMAT, type OutputFormat } from '../src/core/chat/output-format.js';
import { StructuredOutputError } from '../src/core/errors/errors.js';
import { hasCode } from '../src/core/errors/advisor-chain-error.js';
import { integer } from '../src/core/internal/options.js';
import { truncate } from '../src/core/internal/text.js';

/** Options of a {@link StructuredOutputAdvisor}. */
export interface StructuredOutputAdvisorOptions extends AdvisorPlace {
  /** Maximum number of attempts after the first one, >= 0. @default 2 */
  readonly maxRepeats?: number | undefined;
  /** Position, within the tool loop: an attempt is one model call. @default AdvisorOrder.STRUCTURED_OUTPUT_VALIDATION */
  readonly order?: number | undefined;
}

const NAME = 'StructuredOutputAdvisor';
const RULES = { maxRepeats: integer(0) };

/** Maximum length of the issues in the message to the model, in characters. */
const MAX_ISSUES = 2_000;

/**
 * Asks again if an answer does not fit the schema of `entity(schema)`, with the refused answer and
 * its issues. Answers that call tools, and requests without a schema, pass. Neither the loop nor a
 * memory keeps the refused answers; `usage` and the ledger count them.
 */
export class StructuredOutputAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['retries'] as const;
  private readonly maxRepeats: number;
  /** @internal As they were given, for inspectors. */
  readonly options: StructuredOutputAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: StructuredOutputAdvisorOptions = {}) {
    this.options = options;
    const place = { name: 'structured-output', order: AdvisorOrder.STRUCTURED_OUTPUT_VALIDATION };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    this.maxRepeats = options.maxRepeats ?? 2;
  }

  /**
   * @throws {@link StructuredOutputError} of the last attempt, with its `earlierAttempts`, if no
   * answer fits or the model refuses
   */
  async around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { parse } = request.context.get(OUTPUT_FORMAT) ?? {};
    if (!parse) return next(request);
    const refused: StructuredOutputError[] = [];
    let view = request;
    for (;;) {
      const response = await next(view);
      const problem = response.hasToolCalls() ? undefined : await problemOf(response, parse);
      if (!problem) return response;
      if (refused.length === this.maxRepeats || problem.reason === 'refusal')
        throw after(refused, problem);
      refused.push(problem);
      view = view.withMessages([...view.prompt.messages, ...repeat(response, problem)]);
    }
  }
}

async function problemOf(
  response: ChatClientResponse,
  parse: NonNullable<OutputFormat['parse']>,
): Promise<StructuredOutputError | undefined> {
  try {
    await parse(response);
    return undefined;
  } catch (error) {
    if (hasCode(error, 'structured_output')) return error as StructuredOutputError;
    throw error;
  }
}

function after(
  earlier: readonly StructuredOutputError[],
  { message, reason, text, issues, cause }: StructuredOutputError,
): StructuredOutputError {
  const count = earlier.length > 0 ? ` (attempt ${earlier.length + 1})` : '';
  return new StructuredOutputError(message + count, reason, text, issues, { cause }, earlier);
}

/** The refused answer, and the message that asks for another one. */
function repeat({ message }: ChatClientResponse, { issues }: StructuredOutputError): Message[] {
  const list = truncate(issues.join('; '), MAX_ISSUES);
  const content = `Your answer was not accepted: ${list}. Answer again, with JSON that fits the schema and nothing else.`;
  return [message, { role: 'user', content }];
}
