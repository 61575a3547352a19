import { messageOf } from '../../core/errors/error-type.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { LiveTurn } from './inspected-source.js';
import type { AdvisorState } from './inspected-turn.js';
import type { Redactor } from './redactor.js';

/** The current states of the advisors of a turn that show one; of one that fails, its error. */
export async function statesOf(
  { request, advisors }: LiveTurn,
  redactor: Redactor,
): Promise<readonly AdvisorState[]> {
  const inspectors = advisors.filter((advisor) => advisor.inspect !== undefined);
  return Promise.all(
    inspectors.map(async (advisor) => {
      const state = redactor.json(await stateOf(advisor, request));
      // parts of applications may break their types
      return { advisor: advisor.name, state: isPlainObject(state) ? state : { state } };
    }),
  );
}

async function stateOf(
  advisor: LiveTurn['advisors'][number],
  request: LiveTurn['request'],
): Promise<object> {
  try {
    return (await advisor.inspect?.(request)) ?? {};
  } catch (error) {
    return { error: messageOf(error) };
  }
}
