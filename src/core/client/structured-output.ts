import { isCutOff, type ChatResponse } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import { OUTPUT_FORMAT, type OutputFormat } from '../chat/output-format.js';
import { RunRecord } from '../chat/run-record.js';
import type { RunReport } from '../chat/run-report.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { LimitExceededError, StructuredOutputError } from '../errors/errors.js';
import { cancellationOf, untilCancelled } from '../internal/cancellation.js';
import { countSeparators, parseWritten, type JsonValue } from '../internal/json.js';
import { CHECKED_APART, checkOptions, integerOrInfinity, oneOf } from '../internal/options.js';
import { checkLater } from '../json-schema/check-later.js';
import { dropOptionalNulls } from '../json-schema/drop-optional-nulls.js';
import type { Validation } from '../json-schema/standard-schema.js';
import { toJsonSchema, type InferOutput, type InputSchema } from '../json-schema/to-json-schema.js';
import { answered } from './resume.js';
import { jsonCandidates } from './json-candidates.js';

/** Options of an entity. */
export interface EntityOptions {
  /** Way in which the model gets the schema; see `OutputFormat`. @default 'auto' */
  readonly mode?: OutputFormat['mode'];
  /** JSON Schema of what the model must write, for a schema whose library cannot convert it. */
  readonly inputSchema?: JsonSchema | string | undefined;
  /**
   * Maximum number of JSON values in the answer, >= 1; `Infinity` for none. One with more is not
   * parsed, since that would block the process. Counts commas and opening brackets, also those in
   * texts. @default 250_000
   */
  readonly maxValues?: number | undefined;
}

const RULES = {
  mode: oneOf('auto', 'native', 'text'),
  inputSchema: CHECKED_APART,
  maxValues: integerOrInfinity(1),
};

/** A value that is asked for by a schema. */
export class EntityReader<S extends InputSchema> {
  private readonly json: JsonSchema;
  private readonly check: (value: unknown) => Promise<Validation>;
  readonly format: OutputFormat;
  readonly maxValues: number;

  /**
   * @param signal ends a check that is a promise
   * @throws {@link InvalidArgumentError} if the schema or an option is invalid
   */
  constructor(
    schema: S,
    options: EntityOptions = {},
    private readonly signal?: AbortSignal,
  ) {
    checkOptions('entity(…)', options, RULES);
    const { mode = 'auto', inputSchema, maxValues = 250_000 } = options;
    this.maxValues = maxValues;
    this.json = toJsonSchema(inputSchema ?? schema, 'entity(…)');
    this.check = checkLater(schema, this.json);
    const text = `Answer with JSON (RFC 8259) only: no explanation, no code fence. It must fit this JSON Schema:\n${JSON.stringify(this.json)}`;
    this.format = { text, schema: this.json, mode, parse: (response) => this.parse(response) };
  }

  /** The params of a run that asks for the value. */
  paramsFor(params: AdvisorContext): AdvisorContext {
    return params.with(OUTPUT_FORMAT, this.format);
  }

  /**
   * The value of the answer of a run.
   * @throws {@link StructuredOutputError} with the report of the run
   * @throws {@link LimitExceededError} if the answer has too many values
   * @throws {@link TurnPausedError} if the turn waits for people
   * @throws {@link CancelledError} if the signal aborts while a check is under way
   */
  async read(response: ChatResponse, run: RunReport | undefined): Promise<InferOutput<S>> {
    try {
      return await this.parse(answered(response));
    } catch (error) {
      if (run instanceof RunRecord) run.interrupt(error);
      throw error;
    }
  }

  /**
   * The value of an answer; ignores thinking before it and code fences around it. Of several parts
   * that are JSON, the first one that fits counts.
   */
  private async parse(response: ChatResponse): Promise<InferOutput<S>> {
    const text = response.text ?? '';
    const { refusal } = response.message;
    if (refusal !== undefined)
      throw new StructuredOutputError(`The model refused: ${refusal}`, 'refusal', text, [
        'the model refused',
      ]);
    const separators = countSeparators(text);
    if (separators >= this.maxValues) throw tooManyValues(response, this.maxValues, separators + 1);
    let firstMismatch: StructuredOutputError | undefined;
    let failure: unknown;
    for (const candidate of jsonCandidates(text)) {
      let value: JsonValue;
      try {
        value = parseWritten(candidate);
      } catch (error) {
        failure = error;
        continue;
      }
      // strict mode has null instead of optional fields
      const checked = await this.untilAborted(this.check(dropOptionalNulls(value, this.json)));
      if ('value' in checked) return checked.value as InferOutput<S>;
      firstMismatch ??= mismatch(text, checked.issues);
    }
    throw firstMismatch ?? notJson(response, text, failure as Error);
  }

  /** The check of a schema is foreign code, which may never settle. */
  private untilAborted(checked: Promise<Validation>): Promise<Validation> {
    return this.signal ? untilCancelled(checked, cancellationOf(this.signal)) : checked;
  }
}

function tooManyValues(
  { text, usage }: ChatResponse,
  value: number,
  spent: number,
): LimitExceededError {
  return new LimitExceededError(`The answer may have more than ${value} JSON values`, {
    limit: 'entity-values',
    value,
    spent,
    option: 'maxValues',
    partialText: text ?? undefined,
    usage,
  });
}

function mismatch(text: string, issues: readonly string[]): StructuredOutputError {
  const message = `The answer does not fit the schema: ${issues.join('; ')}`;
  return new StructuredOutputError(message, 'mismatch', text, issues);
}

function notJson(response: ChatResponse, text: string, cause: Error): StructuredOutputError {
  const isEmpty = text.trim() === '';
  const issue = isEmpty ? 'it is empty' : cause.message;
  const [reason, hint] = unfinished(response) ?? [isEmpty ? 'empty' : 'not-json', ''];
  const message = `The answer is not JSON: ${issue}${hint}`;
  return new StructuredOutputError(message, reason, text, [issue], { cause });
}

/** Finish reasons of the providers for answers that they withhold. */
const WITHHELD =
  'content_filter safety refusal blocklist prohibited_content recitation spii guardrail_intervened'.split(
    ' ',
  );

function unfinished(
  response: ChatResponse,
): readonly ['refusal' | 'cut-off' | 'not-json', string] | undefined {
  if (response.hasFinishReason(...WITHHELD))
    return ['refusal', '. It was withheld by the content filter of the provider'];
  return response.result && isCutOff(response.result)
    ? ['cut-off', '. It was cut off at its token limit; raise maxTokens']
    : unsent(response);
}

/** The response of a run that another method started has no format in its context. */
function unsent(response: ChatResponse & { readonly context?: AdvisorContext }) {
  return response.context && !response.context.get(OUTPUT_FORMAT)
    ? (['not-json', '. The model did not get the schema: call entity(…) first'] as const)
    : undefined;
}
