import type { ChatModel, Message, Prompt } from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import type { Json } from '../cassettes.js';
import { CHAT_WIRES, type ChatWire } from '../chat-wires.js';
import { invalidReason } from '../conversation.js';
import {
  IDS,
  NAMES,
  TEXTS,
  type ConversationPlan,
  type ScriptedTurn,
} from './conversation-plan.js';
import { ANSWERS, type WireAnswer, type WireCall } from './wire-answers.js';
import { isWellFormed, refusalOf } from './wire-requests.js';

/** The turn that a model answers, by its number. */
export interface AskedTurn {
  readonly number: number;
  readonly script: ScriptedTurn;
}

/** A model whose answers are scripted and hostile, and that refuses what its API would refuse. */
export class HostileModel {
  /** Reasons of refused requests. */
  readonly refusals: string[] = [];
  /** Listener for each request, with its number in the turn, from 0. */
  onRequest: (at: number) => void = () => undefined;
  turn: AskedTurn | undefined;
  readonly model: ChatModel;
  private readonly answered = new Map<number, number>();
  private calls = 0;
  private requests = 0;

  constructor(private readonly plan: ConversationPlan) {
    const wire = CHAT_WIRES.find(({ name, api }) => (name ?? api) === plan.wire);
    this.model = wire ? this.overWire(wire) : this.own();
  }

  /** Begins a turn, or continues one that has rested. */
  begin(turn: AskedTurn): void {
    this.turn = turn;
    this.requests = 0;
  }

  private own(): ChatModel {
    return new ScriptedChatModel((prompt): ScriptedAnswer => {
      const refusal = refusalOfPrompt(prompt);
      if (refusal) {
        this.refusals.push(refusal);
        return new Error(refusal);
      }
      const { answer, fails } = this.next();
      const toolCalls = answer.calls.map(({ id, name, input }) => ({
        ...(id !== undefined && { id }),
        name,
        arguments: input,
      }));
      const parts = { text: answer.text, ...(toolCalls.length > 0 && { toolCalls }) };
      return fails ? { ...parts, error: new Error('the model is down') } : parts;
    });
  }

  private overWire(wire: ChatWire): ChatModel {
    const answer: typeof fetch = (_url, init) => {
      const body = JSON.parse(init?.body as string) as Json;
      return Promise.resolve(this.respond(wire, body));
    };
    return wire.make('http://127.0.0.1:9', { fetch: answer });
  }

  private respond(wire: ChatWire, body: Json): Response {
    const refusal = refusalOf(wire.api, body);
    if (refusal) {
      this.refusals.push(refusal);
      return Response.json(wire.errorBody(refusal), { status: 400 });
    }
    const { answer, fails } = this.next();
    const format = ANSWERS[wire.api];
    if (!format) throw new Error(`no answers of ${wire.api}`);
    const isStream = body['stream'] === true || isStreamOfGemini(wire, this.turn);
    if (fails && !isStream) return Response.json(wire.errorBody('down'), { status: 500 });
    if (!isStream) return Response.json(format.document(answer));
    const pieces = format.pieces(answer);
    const sent = fails ? [...pieces.slice(0, -2), wire.errorEvent('down')] : pieces;
    return new Response(sent.join(''), { headers: { 'content-type': wire.streamType } });
  }

  private next(): { readonly answer: WireAnswer; readonly fails: boolean } {
    const { number, script } = this.turn as AskedTurn;
    const at = this.requests++;
    this.onRequest(at);
    const step = this.answered.get(number) ?? 0;
    const fails = script.end === 'fails' && at === script.at % (script.calls.length + 1);
    if (!fails) this.answered.set(number, step + 1);
    const names = script.calls[step] ?? [];
    const calls = names.map((kind, index): WireCall => {
      const id = IDS[this.plan.ids](this.calls++, index);
      return { id, name: NAMES[kind], input: { at: `#${number}.${step}.${index}#` } };
    });
    const text = calls.length > 0 ? `Step ${step} of Q${number}` : `A${number}`;
    return { answer: { text: `${text}${TEXTS[script.answer]}`, calls }, fails };
  }
}

/** Gemini has another address for streams in place of a field. */
function isStreamOfGemini({ api }: ChatWire, turn: AskedTurn | undefined): boolean {
  return api === 'generateContent' && turn?.script.mode === 'stream';
}

function refusalOfPrompt({ messages }: Prompt): string | undefined {
  const invalid = invalidReason(messages as Message[]);
  if (invalid) return invalid;
  return isWellFormed(messages) ? undefined : 'a text has half a surrogate pair';
}
