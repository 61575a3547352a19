import { defer, switchMap } from 'rxjs';
import {
  AdvisorOrder,
  CONVERSATION_ID,
  defineAdvisor,
  InMemoryChatMemoryRepository,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Advisor,
  type AdvisorFunctions,
  type ChatMemory,
} from '../../src/index.js';
import { runScript, type ForeignWait, type WaitRow } from './foreign-wait.js';

/** Positions of an advisor; only the loop has a time limit. */
const POSITIONS = [
  { place: 'around the loop', order: AdvisorOrder.MEMORY, limits: {} },
  {
    place: 'inside the loop',
    order: AdvisorOrder.TOOL_CALLING + 1,
    limits: { maxDuration: LimitExceededError },
  },
] as const;

/** A row for each position of an advisor. */
const advising = (
  title: string,
  advisorOf: (wait: ForeignWait, order: number) => Advisor | Promise<Advisor>,
): readonly WaitRow[] =>
  POSITIONS.map(({ place, order, limits }) => ({
    title: `${title} ${place}`,
    limits,
    run: async (scene) => {
      const advisor = await advisorOf(scene.wait, order);
      return runScript(scene, ['done'], (spec) =>
        spec.advisors(advisor, (a) => a.param(CONVERSATION_ID, 'c')),
      );
    },
  }));

type Functions = Omit<AdvisorFunctions, 'name' | 'order'>;

const functions = (
  title: string,
  functionsOf: (wait: ForeignWait) => Functions,
): readonly WaitRow[] =>
  advising(`${title} of an advisor`, (wait, order) =>
    defineAdvisor({ name: 'a', order, ...functionsOf(wait) }),
  );

const remembering = (
  title: string,
  memoryOf: (wait: ForeignWait) => ChatMemory | Promise<ChatMemory>,
): readonly WaitRow[] =>
  advising(
    `${title} of a memory`,
    async (wait, order) =>
      new MessageChatMemoryAdvisor({ chatMemory: await memoryOf(wait), order }),
  );

class WaitingRepository extends InMemoryChatMemoryRepository {
  constructor(
    private readonly wait: ForeignWait,
    private readonly method: 'read' | 'append',
  ) {
    super();
  }

  override async read(...args: Parameters<InMemoryChatMemoryRepository['read']>) {
    if (this.method === 'read') await this.wait.enter(undefined);
    return super.read(...args);
  }

  override async append(...args: Parameters<InMemoryChatMemoryRepository['append']>) {
    if (this.method === 'append') await this.wait.enter(undefined);
    return super.append(...args);
  }
}

/** Waits for advisors and memories. */
export const ADVISOR_WAITS: readonly WaitRow[] = [
  ...functions('before', (wait) => ({ before: () => wait.enter(undefined) })),
  ...functions('after', (wait) => ({ after: () => wait.enter(undefined) })),
  ...functions('around, before next,', (wait) => ({
    around: async (request, next) => {
      await wait.enter(undefined, request.signal);
      return next(request);
    },
  })),
  ...functions('around, after next,', (wait) => ({
    around: async (request, next) => {
      const response = await next(request);
      await wait.enter(undefined, request.signal);
      return response;
    },
  })),
  ...advising('the Observable of an advisor', (wait, order) => ({
    name: 'a',
    order,
    advise: (request, chain) =>
      defer(() => wait.enter(undefined, request.signal)).pipe(switchMap(() => chain.next(request))),
  })),
  ...(['read', 'append'] as const).flatMap((method) =>
    remembering(
      method,
      (wait) => new MessageWindowChatMemory({ repository: new WaitingRepository(wait, method) }),
    ),
  ),
];
