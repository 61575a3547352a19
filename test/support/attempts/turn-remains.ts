import { callsOf } from '../../../src/core/chat/message.js';
import { textOf, type Advisor, type Message } from '../../../src/index.js';
import { runSpec } from '../modes.js';
import type { Stores } from '../sweep-stores.js';
import { AttemptedTurn, type TurnEnd } from './attempted-turn.js';
import type { Operations } from './operations.js';
import { STEERED, TurnWorld } from './turn-world.js';
import type { TurnPlan } from './turn-plan.js';

/** Everything that a turn, and the turn after it, have left behind. */
export interface Remains {
  readonly end: TurnEnd;
  readonly answer: string | undefined;
  /** The log after the turn, and after the next one; ids by the order of their calls. */
  readonly log: readonly string[];
  readonly nextLog: readonly string[];
  readonly nextRequest: readonly string[];
  readonly nextError: string | undefined;
  /** True if a message that was sent on the way is part of the turn. */
  readonly hasSteered: boolean;
  readonly effects: TurnWorld['effects'];
  readonly counts: TurnWorld['counts'];
  readonly budget: {
    readonly tokens: number;
    readonly modelCalls: number;
    readonly toolCalls: number;
  };
}

/** Runs the turns of a plan, the disturbed one until it ends. */
export async function play(
  plan: TurnPlan,
  operations: Operations,
  stores: Stores,
  inspector?: Advisor,
): Promise<Remains> {
  const world = new TurnWorld(plan, operations, stores, inspector);
  for (let turn = 0; turn < plan.turnsBefore; turn++)
    await runSpec('call', world.asked(world.client(), `Q${turn}`, `before-${turn}`));
  const name = `Q${plan.turnsBefore}`;
  operations.isActive = true;
  const end = await new AttemptedTurn(world, name, 'the-turn').run();
  operations.isActive = false;
  const hasSteered = world.isSteered && end.response !== undefined;
  const log = await logOf(world);
  const counts = { ...world.counts };
  const budget = await spentOf(stores);
  const next = world.asked(world.client(), `Q${plan.turnsBefore + 1}`, 'next');
  const nextError = await runSpec('call', next).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  return {
    end,
    answer: end.response?.text ?? undefined,
    log,
    nextLog: await logOf(world),
    nextRequest: shown(world.prompts.at(-1)?.messages ?? []),
    nextError,
    hasSteered,
    effects: world.effects,
    counts,
    budget,
  };
}

async function logOf({ stores }: TurnWorld): Promise<readonly string[]> {
  const { messages } = await stores.repository.read(stores.conversation);
  return shown(messages.map(({ message }) => message));
}

/** Messages in words, with the number of a call in place of its id. */
export function shown(messages: readonly Message[]): readonly string[] {
  let known: (readonly [id: string, number: number])[] = [];
  let count = 0;
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'system':
        return [];
      case 'user':
        return [`user: ${textOf(message.content)}`];
      case 'tool': {
        const at = known.find(([id]) => id === message.toolCallId)?.[1] ?? 'without a call';
        known = known.filter(([, number]) => number !== at);
        return [`result ${at}: ${textOf(message.content)}`];
      }
      case 'assistant': {
        const calls = callsOf(message).map(({ id, name, arguments: text }) => {
          known.push([id, count]);
          return ` <${name} ${text} ${count++}>`;
        });
        const mark = message.metadata?.['incomplete'] === true ? ' (incomplete)' : '';
        return [`assistant: ${textOf(message)}${calls.join('')}${mark}`];
      }
    }
  });
}

/** True for a message that the user has sent while the turn was running. */
export const isSteered = (line: string): boolean => line === `user: ${STEERED}`;

async function spentOf({ states }: Stores): Promise<Remains['budget']> {
  const key = `budget budget:${JSON.stringify(['all', 'all'])}`;
  return states.add(key, { tokens: 0, modelCalls: 0, toolCalls: 0 });
}
