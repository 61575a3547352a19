import {
  checkOption,
  checkOptions,
  FUNCTION,
  integerOrInfinity,
  oneOf,
  PLAIN_OBJECT,
  rule,
  TIMEOUT,
} from '../internal/options.js';
import { ERROR_POLICY } from '../tool/check-tool.js';
import type { ToolResolver } from '../tool/tool-provider.js';
import type { ToolErrorPolicy } from '../tool/tool.js';

/** A class of errors, including its subclasses. */
export type ErrorClass = abstract new (...args: never) => unknown;

/** Options of a {@link ToolCallingManager}. */
export interface ToolCallingManagerOptions {
  /** Maximum number of tools that run at the same time in a batch, >= 1. @default 16 */
  readonly concurrency?: number | undefined;
  /** Maximum number of calls of one tool in a turn, >= 1, or `Infinity`. @default 40 */
  readonly maxCallsPerTool?: number | undefined;
  /** Other limits for single tools, by name; `Infinity` leaves only `maxTotalCalls`. @default {} */
  readonly maxCallsByTool?: Readonly<Record<string, number>> | undefined;
  /** Maximum number of calls of all tools in a turn, >= 1, or `Infinity`. @default 150 */
  readonly maxTotalCalls?: number | undefined;
  /**
   * At a limit: throw an error with all results, or send a text to the model in place of the
   * result.
   * @default 'throw'
   */
  readonly onLimit?: 'throw' | 'send-to-model' | undefined;
  /**
   * Time limit in milliseconds of tools without one of their own, or `Infinity`.
   * @default 60_000
   */
  readonly toolTimeout?: number | undefined;
  /**
   * Maximum number of characters of a result for the model, which gets the beginning and the end of
   * a longer one; the application receives all.
   * @default 100_000
   */
  readonly maxResultLength?: number | undefined;
  /**
   * Maximum number of characters of the arguments of a call, >= 1, or `Infinity`; longer ones are not
   * parsed.
   * @default 1_000_000
   */
  readonly maxArgumentsLength?: number | undefined;
  /**
   * Maximum number of JSON values of the arguments of a call, >= 1, or `Infinity`; more are not
   * parsed. @default 250_000
   */
  readonly maxArgumentsValues?: number | undefined;
  /**
   * Maximum number of steps of checking arguments or a result by a JSON Schema, >= 1, or `Infinity`.
   * A step applies one schema to one value; 300,000 take about 50 ms, in which nothing else runs.
   * @default 300_000
   */
  readonly maxCheckSteps?: number | undefined;
  /** Maximum number of progress values of a call, >= 1, or `Infinity`. @default 100_000 */
  readonly maxProgress?: number | undefined;
  /**
   * Handling of a failed call (the tool throws, times out or does not exist, or its arguments are
   * invalid), unless the tool has its own: an error result for the model, a `ToolExecutionError`
   * for the caller after all calls of the batch have ended, or a function. If several calls throw,
   * the first one in call order does.
   * @default 'send-to-model'
   */
  readonly onToolError?: ToolErrorPolicy | undefined;
  /**
   * Error classes that reach the caller unchanged, whatever `onToolError` is, after all calls of
   * the batch have ended. The errors carry no results; the results of the other calls are in their
   * `tool-result` events.
   * @default []
   */
  readonly rethrow?: readonly ErrorClass[] | undefined;
  /** Finds tools that the request does not have. @default none: only tools of the request run */
  readonly resolver?: ToolResolver | undefined;
}

const COUNT = integerOrInfinity(1);
const RULES = {
  concurrency: COUNT,
  maxCallsPerTool: COUNT,
  maxCallsByTool: PLAIN_OBJECT,
  maxTotalCalls: COUNT,
  onLimit: oneOf('throw', 'send-to-model'),
  toolTimeout: TIMEOUT,
  maxResultLength: COUNT,
  maxArgumentsLength: COUNT,
  maxArgumentsValues: COUNT,
  maxCheckSteps: COUNT,
  maxProgress: COUNT,
  onToolError: ERROR_POLICY,
  rethrow: rule(
    'an array of classes',
    (value) => Array.isArray(value) && value.every((type) => typeof type === 'function'),
  ),
  resolver: FUNCTION,
};

/** Options of a manager with their defaults. */
export type ManagerSettings = {
  readonly [K in Exclude<keyof ToolCallingManagerOptions, 'resolver'>]-?: NonNullable<
    ToolCallingManagerOptions[K]
  >;
} & Pick<ToolCallingManagerOptions, 'resolver'>;

/** @throws {@link InvalidArgumentError} if an option is out of range */
export function toManagerSettings(options: ToolCallingManagerOptions): ManagerSettings {
  const where = 'ToolCallingManager';
  checkOptions(where, options, RULES);
  const { maxCallsByTool = {} } = options;
  for (const [name, max] of Object.entries(maxCallsByTool))
    checkOption(where, `maxCallsByTool["${name}"]`, max, COUNT);
  return {
    concurrency: options.concurrency ?? 16,
    maxCallsPerTool: options.maxCallsPerTool ?? 40,
    maxCallsByTool,
    maxTotalCalls: options.maxTotalCalls ?? 150,
    onLimit: options.onLimit ?? 'throw',
    toolTimeout: options.toolTimeout ?? 60_000,
    maxResultLength: options.maxResultLength ?? 100_000,
    maxArgumentsLength: options.maxArgumentsLength ?? 1_000_000,
    maxArgumentsValues: options.maxArgumentsValues ?? 250_000,
    maxCheckSteps: options.maxCheckSteps ?? 300_000,
    maxProgress: options.maxProgress ?? 100_000,
    onToolError: options.onToolError ?? 'send-to-model',
    rethrow: [...(options.rethrow ?? [])],
    resolver: options.resolver,
  };
}
