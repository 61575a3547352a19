import type { JsonValue } from '../../core/internal/json.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  ID,
  PLAIN_OBJECT,
  required,
  TEXT,
} from '../../core/internal/options.js';

/** A turn that is started again and again. */
export interface TurnSchedule<Input extends JsonValue> {
  /** Name of the schedule, unique in the database. */
  readonly name: string;
  /** Times as a cron expression, such as `0 8 * * 1-5`; six fields begin with seconds. */
  readonly cron: string;
  /** Time zone of the expression, such as `Europe/Berlin`. @default UTC */
  readonly timezone?: string | undefined;
  readonly input: Input;
  readonly conversationId?: string | undefined;
}

const WHERE = 'DbosTurns.schedule';

/** @throws {@link InvalidArgumentError} if a field breaks its rule; DBOS checks the expression */
export function checkSchedule<Input extends JsonValue>(schedule: TurnSchedule<Input>): void {
  checkOption(WHERE, 'schedule', schedule, PLAIN_OBJECT);
  checkOptions(WHERE, schedule, {
    name: required(TEXT),
    cron: required(TEXT),
    timezone: TEXT,
    input: CHECKED_APART,
    conversationId: ID,
  });
}
