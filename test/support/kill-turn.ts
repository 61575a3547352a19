import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import OpenAI from 'openai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Advisor,
  type ChatMemoryRepository,
  type Reconciled,
  type SteeringMode,
  type ToolContext,
  type ToolInvocation,
  type ToolMetadata,
} from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { dbosEngine } from '../../src/engines/dbos/dbos.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { placeOf } from './kill-model-server.js';
import type { KillPoints } from './kill-points.js';
import { SteeringUser } from './kill-steering.js';

/** The effect of a tool call, as another system stores it. */
export interface Effect {
  readonly turnId: string;
  readonly tool: string;
  readonly callId: string;
  readonly key: string;
}

/** Parts of the reference turn that a process opens. */
export interface KillTurn {
  readonly points: KillPoints;
  readonly baseURL: string;
  /** File to which effects are appended. */
  readonly effectsFile: string;
  readonly repository: ChatMemoryRepository;
  readonly isMemoryInside: boolean;
  readonly onUnknown?: 'ask' | 'refuse' | undefined;
  readonly steering?: SteeringMode | undefined;
  readonly onReport: (report: unknown) => void;
}

export function effectsIn(file: string): readonly Effect[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Effect);
}

/** A client whose turn has four iterations, a read, an idempotent and two write tools, and an approval. */
export function killClient(turn: KillTurn): ChatClient {
  const chatMemory = new MessageWindowChatMemory({ repository: turn.repository });
  const user = new SteeringUser(turn.steering);
  const order = turn.isMemoryInside ? AdvisorOrder.TOOL_CALLING + 1 : AdvisorOrder.MEMORY;
  return ChatClient.builder(modelOf(turn, user))
    .defaultSystem('You work on orders.')
    .defaultTools(
      toolOf(turn, 'find', 'read'),
      toolOf(turn, 'save', 'idempotent'),
      toolOf(turn, 'send', 'write'),
      toolOf(turn, 'charge', 'write'),
    )
    .defaultAdvisors(
      reporter(turn),
      new MessageChatMemoryAdvisor({ chatMemory, order }),
      approval(),
      ...user.advisors,
      new DurableAdvisor({
        engine: dbosEngine,
        onUnknown: turn.onUnknown,
        reconcile: turn.onUnknown ? undefined : (call) => lookUp(call, turn),
      }),
    )
    .build();
}

function modelOf({ points, baseURL }: KillTurn, user: SteeringUser): OpenAIChatModel {
  const fetchWithPoints: typeof fetch = async (input, init) => {
    const { iteration } = placeOf(JSON.parse(init?.body as string));
    const name = `request ${iteration}`;
    points.reach(`${name}: before`);
    const answer = fetch(input, init);
    points.reach(`${name}: started`);
    user.look(init?.body as string, iteration);
    const { status, headers, body } = await answer;
    points.reach(`${name}: headers`);
    let pieces = 0;
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        if (pieces++ === 0) points.reach(`${name}: first piece`);
        controller.enqueue(piece);
      },
      flush: () => points.reach(`${name}: end of body`),
    });
    return new Response(body?.pipeThrough(watched), { status, headers });
  };
  const client = new OpenAI({ apiKey: 'none', baseURL, fetch: fetchWithPoints, maxRetries: 0 });
  return new OpenAIChatModel({ model: 'm', client });
}

function toolOf(turn: KillTurn, name: string, effect: ToolMetadata['effect']) {
  const { points } = turn;
  return defineTool({
    name,
    description: `Can ${name}.`,
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    effect,
    execute: async (_, context) => {
      points.reach(`tool ${name}: begun`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      points.reach(`tool ${name}: before its effect`);
      appendFileSync(turn.effectsFile, `${JSON.stringify(effectOf(name, context))}\n`);
      points.reach(`tool ${name}: after its effect`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return resultOf(name);
    },
  });
}

const resultOf = (name: string): string => `result of ${name}`;

function effectOf(tool: string, { call, values, idempotencyKey: key }: ToolContext): Effect {
  return { turnId: String(values['turnId']), tool, callId: call.wireId ?? call.id ?? '', key };
}

/** Asks the other system if a call has had its effect. */
function lookUp({ call, context }: ToolInvocation, turn: KillTurn): Reconciled {
  const isDone = effectsIn(turn.effectsFile).some(({ key }) => key === context.idempotencyKey);
  return isDone ? { content: resultOf(call.name), value: resultOf(call.name) } : 'not-run';
}

/** Waits for a person before a charge, and decides about sending by a function. */
const approval = (): Advisor =>
  new ApprovalAdvisor({
    effects: { idempotent: 'allow' },
    policy: { charge: 'ask', send: async () => ({ type: 'allow' }) },
  });

/** The outermost advisor: reports all that a turn has left behind. */
function reporter({ points, onReport }: KillTurn): Advisor {
  return defineAdvisor({
    name: 'reporter',
    order: 1,
    around: async (request, next) => {
      points.reach('turn: begun');
      const response = await next(request);
      points.reach('turn: answered');
      onReport({ ...reportOf(request.run), text: response.text, usage: response.usage });
      return response;
    },
  });
}

function reportOf({ steps, ledger, transcript, stored }: RunRecord): object {
  return {
    steps: steps.map(({ index, response, toolCalls }) => ({
      index,
      text: response.text,
      toolCalls: toolCalls.map(({ call, status, result }) => ({ call, status, result })),
    })),
    ledger: ledger.map((call) => ({ ...call, isReplayed: undefined })),
    transcript,
    stored,
  };
}
