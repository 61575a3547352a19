import { expect } from 'chai';
import fc from 'fast-check';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryKeyValueStore,
  type ChatResponse,
  type Decision,
  type PausedTurn,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { resultsOf } from '../../support/approval.js';
import { MODES, runSpec } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

interface Call {
  readonly id: string;
  readonly n: number;
  readonly name: 'pay' | 'look' | 'locate';
}
/** The answers of the model, of which some are errors; and what people and processes do. */
interface Case {
  readonly answers: readonly (readonly Call[] | 'error')[];
  readonly choices: readonly number[];
}

const call = fc.record({
  id: fc.constantFrom('a', 'b'),
  n: fc.integer({ min: 1, max: 2 }),
  name: fc.constantFrom('pay' as const, 'pay' as const, 'look' as const, 'locate' as const),
});
const batch = fc.array(call, { minLength: 1, maxLength: 4 });
const cases: fc.Arbitrary<Case> = fc.record({
  answers: fc
    .tuple(batch, fc.array(fc.oneof(batch, fc.constant('error' as const)), { maxLength: 4 }))
    .map(([first, rest]) => [first, ...rest]),
  choices: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }),
});

const scriptOf = ({ answers }: Case): readonly ScriptedAnswer[] => [
  ...answers.map((each) =>
    each === 'error'
      ? new Error('down')
      : { toolCalls: each.map(({ id, n, name }) => ({ id, name, arguments: { n } })) },
  ),
  'Done.',
];

const restOf = ({ paused, text }: ChatResponse): PausedTurn | string => paused ?? text ?? '';
const failed = ({ paused, message }: Error & { paused?: PausedTurn }): PausedTurn | string =>
  paused ?? message;

/** One turn over several processes, and what has run and was allowed. */
class Turn {
  readonly ran: number[] = [];
  readonly allowed: number[] = [];
  /** Outputs and errors of the client. */
  readonly outputs: string[] = [];
  private edits = 100;
  private at = 0;
  private readonly model: ScriptedChatModel;
  private readonly store = new InMemoryKeyValueStore();

  constructor(private readonly given: Case) {
    this.model = new ScriptedChatModel(scriptOf(given));
  }

  async run(): Promise<string> {
    let paused = await this.next([this.process().prompt('Go')]);
    for (let round = 0; typeof paused !== 'string'; round++) {
      if (round > 60) return 'no end';
      const { state, requests } = paused;
      const decided = requests.filter((_, at) => at === 0 || this.choose(2) === 0);
      const decisions = Object.fromEntries(
        decided.map((request) => [request.id, this.decide(request as never)]),
      );
      const processes = 1 + this.choose(2);
      const resume = (): PromptSpec => this.process().resume(state, decisions);
      paused = await this.next(Array.from({ length: processes }, resume));
    }
    return paused;
  }

  /** The end of several processes that resume a turn at the same time. */
  private async next(specs: readonly PromptSpec[]): Promise<PausedTurn | string> {
    const mode = MODES[this.choose(MODES.length)] ?? 'call';
    const ends = await Promise.allSettled(specs.map((spec) => runSpec(mode, spec)));
    const went = ends.filter(
      (end) =>
        end.status === 'fulfilled' ||
        !['used', 'running'].includes((end.reason as { reason?: string }).reason ?? ''),
    );
    // after another process has paused or failed, the next one continues from there
    const rests = went.map((end) =>
      end.status === 'fulfilled' ? restOf(end.value) : failed(end.reason as Error),
    );
    return rests.find((rest) => rest === 'Done.') ?? rests.at(-1) ?? 'no process continued';
  }

  /** The results of the tool that the client runs, as the model has read them last. */
  get read(): readonly string[] {
    return resultsOf(this.model).flatMap((text) => /client-\d+/.exec(text) ?? []);
  }

  private decide(request: {
    readonly type: string;
    readonly arguments: { readonly n: number };
  }): Decision {
    if (request.type === 'client-tool') {
      const output = `client-${this.outputs.length}`;
      this.outputs.push(output);
      return this.choose(3) === 0
        ? { type: 'cancel', reason: output }
        : { type: 'answer', value: output };
    }
    const type = (['allow', 'edit', 'deny'] as const)[this.choose(3)] ?? 'deny';
    if (type === 'deny') return { type };
    const n = type === 'edit' ? this.edits++ : request.arguments.n;
    this.allowed.push(n);
    return type === 'edit' ? { type, arguments: { n } } : { type };
  }

  private choose(count: number): number {
    const { choices } = this.given;
    return (choices[this.at++ % choices.length] as number) % count;
  }

  private process(): ChatClient {
    const pause = { secrets: SECRET, store: this.store };
    return ChatClient.builder(this.model)
      .defaultTools(...this.tools())
      .defaultAdvisors(new ApprovalAdvisor({ pause }))
      .build();
  }

  private tools(): readonly Tool[] {
    const input = { type: 'object', properties: { n: { type: 'number' } } } as const;
    const execute = ({ n }: { readonly [key: string]: unknown }): string =>
      `paid ${this.ran.push(n as number)}`;
    return [
      defineTool({ name: 'pay', effect: 'write', input, execute }),
      defineTool({ name: 'look', effect: 'read', input, execute: () => 'seen' }),
      defineTool({ name: 'locate', effect: 'read', input }),
    ];
  }
}

describe('turns that pause, fail and continue in several processes', () => {
  it('run each call that was allowed once, as it was allowed, and give the model each output of the client once', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const turn = new Turn(given);

        const end = await turn.run();

        const isLost = end === 'down' && turn.allowed.length + turn.outputs.length === 0; // before it has a state
        expect(end).to.equal(isLost ? 'down' : 'Done.');
        expect(turn.ran).to.have.members(turn.allowed);
        expect(turn.read).to.have.members(turn.outputs);
      }),
      { numRuns: 60 },
    );
  });
});
