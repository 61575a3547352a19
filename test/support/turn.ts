import { callsOf } from '../../src/core/chat/message.js';
import type { Mode } from './modes.js';
import { lastValueFrom } from 'rxjs';
import {
  ToolCallingAdvisor,
  type ToolCallingAdvisorOptions,
} from '../../advisors/tool-calling-advisor.js';
import {
  ChatClient,
  defineAdvisor,
  type Advisor,
  type ChatClientResponse,
  type ChatEvent,
  type ChatModel,
  type ChatOptions,
  type Message,
  type Tool,
  type ToolContextValues,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';

/** Settings of a turn. */
export interface TurnOptions {
  readonly tools?: readonly Tool[];
  /** Options of the tool loop. */
  readonly loop?: ToolCallingAdvisorOptions;
  readonly advisors?: readonly Advisor[];
  readonly options?: ChatOptions;
  readonly toolContext?: ToolContextValues;
  readonly messages?: readonly Message[];
  readonly signal?: AbortSignal;
}

/** The result of a turn. */
export interface Turn {
  readonly events: readonly ChatEvent[];
  readonly response: ChatClientResponse;
}

/** Records every event outside of the loop, in both modes. */
export function recorder(events: ChatEvent[]): Advisor {
  return defineAdvisor({ name: 'recorder', order: 1, onEvent: (event) => void events.push(event) });
}

/** Runs a turn through a client whose tool loop is given, and gives its events and its response. */
export async function runTurn(
  mode: Mode,
  model: ChatModel | Script,
  options: TurnOptions = {},
): Promise<Turn> {
  const { tools = [], loop = {}, advisors = [], messages = [], toolContext = {} } = options;
  const events: ChatEvent[] = [];
  const asked =
    typeof model === 'function' || Array.isArray(model)
      ? new ScriptedChatModel(model as Script)
      : (model as ChatModel);
  const spec = ChatClient.create(asked)
    .prompt()
    .system('Be brief.')
    .messages(...messages)
    .user('Go.')
    .options(options.options ?? {})
    .tools(...tools)
    .toolContext(toolContext)
    .advisors(recorder(events), new ToolCallingAdvisor(loop), ...advisors);
  const run = options.signal ? spec.signal(options.signal) : spec;
  const response =
    mode === 'call'
      ? await run.call().chatClientResponse()
      : await lastValueFrom(run.stream().chatClientResponse());
  return { events, response };
}

/** Events as short texts. */
export function summary(events: readonly ChatEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'iteration-start':
      case 'tool-start':
        return [];
      case 'text-delta':
      case 'reasoning-delta':
        return `${event.type} ${event.text}`;
      case 'tool-call-delta':
        return `${event.type} ${event.index} ${event.name ?? ''}`.trimEnd();
      case 'citation':
        return `${event.type} ${event.citation.url ?? ''}`.trimEnd();
      case 'iteration':
        return `${event.type} ${event.index} ${callsOf(event.response.message)
          .map((call) => call.name)
          .join('+')}`;
      case 'tool-call':
        return `${event.type} ${event.call.id} ${event.call.name}`;
      case 'tool-progress':
        return `${event.type} ${event.call.id} ${JSON.stringify(event.data)}`;
      case 'tool-result':
        return `${event.type} ${event.call.id} ${JSON.stringify(event.result.content)}`;
      case 'step':
        return `${event.type} ${event.step.index}`;
      case 'retract':
        return `${event.type} ${event.iteration}`;
      case 'custom':
        return `${event.type} ${event.name} ${JSON.stringify(event.data)}`;
      case 'response':
        return `${event.type} ${event.response.text}`;
    }
  });
}

/** The event with the durations of its tool calls as 0, to compare two runs. */
export function withoutDurations(event: ChatEvent): ChatEvent {
  if (event.type !== 'step') return event;
  const toolCalls = event.step.toolCalls.map((call) => ({ ...call, duration: 0 }));
  return { ...event, step: { ...event.step, toolCalls } };
}

/** Roles of the messages sent to the model. */
export function roles(messages: readonly Message[] | undefined): string {
  return (messages ?? []).map((message) => message.role).join(' ');
}
