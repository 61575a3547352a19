import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  type WaitOptions,
  type AssistantMessage,
  type ApprovalAdvisorOptions,
  type ChatClientResponse,
  type Decision,
  type Message,
  type PendingRequest,
  type Tool,
} from '../../../src/index.js';
import type { JsonValue } from '../../../src/core/internal/json.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';
import { pathOf, rm } from '../../support/approval.js';
import { SECRET } from '../../support/paused-turns.js';

const BATCH = ['free', 'forbidden', 'asked', 'edited', 'refused'];

/** The decision of the person by the path of the call. */
const DECISIONS: Readonly<Record<string, Decision>> = {
  asked: { type: 'allow', by: 'anna' },
  edited: { type: 'edit', arguments: { path: 'tmp/edited' }, by: 'anna' },
  refused: { type: 'deny', reason: 'Needed.', by: 'anna' },
};

const policy: ApprovalAdvisorOptions['policy'] = ({ arguments: args }) => {
  const { path } = args as { path: string };
  if (path === 'free') return 'allow';
  return path === 'forbidden' ? { type: 'deny', reason: 'By rule.' } : 'ask';
};

interface Outcome {
  readonly removed: readonly string[];
  /** Raw texts that the tool has seen. */
  readonly texts: readonly string[];
  readonly messages: readonly Message[];
  readonly response: ChatClientResponse;
  readonly asked: readonly string[];
}

function remover(removed: string[], texts: string[]): Tool {
  return defineTool({
    name: 'rm',
    effect: 'write',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: ({ path }, { call }) => {
      removed.push(String(path));
      texts.push(call.arguments);
      return `removed ${String(path)}`;
    },
  });
}

type Way = 'inline' | 'paused' | 'durable';

/** Sends a decision as soon as the turn waits for it. */
class DecidingEngine extends InMemoryDurableEngine {
  constructor(private readonly decide: (request: PendingRequest) => Decision) {
    super();
  }

  override waitFor(name: string, options: WaitOptions = {}): Promise<JsonValue | undefined> {
    const decision = this.decide(options.request as never);
    this.send(name, decision as unknown as JsonValue);
    return super.waitFor(name, options);
  }
}

async function run(way: Way, mode: Mode, batch: readonly string[] = BATCH): Promise<Outcome> {
  const [removed, texts, asked]: [string[], string[], string[]] = [[], [], []];
  const model = new ScriptedChatModel([rm(...batch), 'Done.']);
  const decide = (request: PendingRequest): Decision => {
    asked.push(pathOf(request));
    return DECISIONS[pathOf(request)] as Decision;
  };
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  const engine = new DecidingEngine(decide);
  const options = {
    inline: { policy, decide },
    paused: { policy, pause },
    durable: { policy },
  }[way];
  const client = ChatClient.builder(model)
    .defaultTools(remover(removed, texts))
    .defaultAdvisors(
      new ApprovalAdvisor(options),
      ...(way === 'durable' ? [new DurableAdvisor({ engine: () => engine })] : []),
    )
    .build();
  let response = await runSpec(mode, client.prompt('Tidy up.'));
  if (response.paused) {
    const { state, requests } = response.paused;
    const decisions = Object.fromEntries(requests.map((each) => [each.id, decide(each)]));
    response = await runSpec(mode, client.resume(state, decisions));
  }
  const messages = model.prompts.at(-1)?.messages ?? [];
  return { removed, texts, messages, response, asked };
}

const resultOf = (messages: readonly Message[], at: number): unknown =>
  messages.filter((message) => message.role === 'tool')[at]?.content;

for (const way of ['inline', 'paused', 'durable'] as const)
  for (const mode of MODES)
    describe(`a batch of five calls with all decisions, ${way}, ${mode}`, () => {
      it('[B16] [langchainjs#10176] [langchainjs#11125] runs what is allowed, and answers all', async () => {
        const { removed, response, messages } = await run(way, mode);

        expect(response.text).to.equal('Done.');
        expect(removed.toSorted()).to.deep.equal(['asked', 'free', 'tmp/edited']);
        expect([0, 1, 2, 3, 4].map((at) => resultOf(messages, at))).to.deep.equal([
          'removed free',
          'Not run: the policy denied this call of "rm". Reason: By rule.',
          'removed asked',
          'removed tmp/edited',
          'Not run: the user denied this call of "rm". Reason: Needed.',
        ]);
      });

      it('[langgraph#6624] shows all calls that wait, at once', async () => {
        const { asked } = await run(way, mode);

        expect(asked).to.deep.equal(['asked', 'edited', 'refused']);
      });

      it('[langchain#33787] shows the model the edited call as its own, and the tool no other text', async () => {
        const { messages, texts, response } = await run(way, mode);

        const { toolCalls = [] } = messages.find(
          (message): message is AssistantMessage => message.role === 'assistant',
        ) as AssistantMessage;
        expect(toolCalls[3]?.arguments).to.equal('{"path":"tmp/edited"}');
        expect(texts).to.include('{"path":"tmp/edited"}').and.not.include('{"path":"edited"}');
        const ran = response.steps.flatMap((step) => step.toolCalls);
        expect(ran[3]?.call.arguments).to.equal('{"path":"tmp/edited"}');
      });

      it('[B16] one denied call does not keep the others from running', async () => {
        const { removed } = await run(way, mode, ['free', 'refused']);

        expect(removed).to.deep.equal(['free']);
      });

      it('[vercel/ai#14428] each call of a batch that is denied whole has a result', async () => {
        const { messages, response } = await run(way, mode, ['refused', 'forbidden']);

        expect(messages.filter(({ role }) => role === 'tool')).to.have.length(2);
        expect(response.text).to.equal('Done.');
      });
    });
