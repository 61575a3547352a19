import { textOf } from '../../src/core/chat/message.js';
import { toDeltas } from '../../src/core/advisor/event-subscribers.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import type { GuardAdvisorOptions } from './guard-options.js';
import type { TextRule } from './guard-rule.js';
import type { Hit, Policies } from './policies.js';
import { StreamRedactor } from './redaction.js';

type TextDelta = Extract<ChatEvent, { readonly type: 'text-delta' | 'reasoning-delta' }>;

/** The part of an answer that a stream has shown. */
export class ShownAnswer {
  /** The first finding, if it ends the answer. */
  stop: Hit | undefined;
  private readonly texts = { 'text-delta': '', 'reasoning-delta': '' };
  private readonly redactors: { [Type in TextDelta['type']]?: StreamRedactor } = {};
  private readonly rules: readonly TextRule[];
  private readonly holds: boolean;
  private hasOthers = false;
  private stopAt = Infinity;

  constructor(
    private readonly policies: Policies,
    private readonly release: NonNullable<GuardAdvisorOptions['release']>,
  ) {
    this.holds = release === 'end' || (release === 'checked' && policies.holdsWhole);
    const watch = (hit: Hit, start: number): void => {
      if (start < this.stopAt) [this.stop, this.stopAt] = [hit, start];
    };
    this.rules = release === 'checked' ? policies.streamRules(watch) : [];
  }

  /** The deltas that may be shown now. */
  push(event: ChatEvent): readonly ChatEvent[] {
    if (this.holds) return [];
    if (event.type === 'text-delta' || event.type === 'reasoning-delta')
      return this.pushText(event);
    if (this.release === 'checked') return []; // a call may have a secret in pieces, and a citation its text
    this.hasOthers = true;
    return [event];
  }

  /**
   * The deltas of a final answer that were not shown; undefined if others were shown, which must be
   * retracted.
   * @param isChanged true if it is not the answer of the model
   */
  missing(response: ChatResponse, isChanged: boolean): readonly ChatEvent[] | undefined {
    if (isChanged && this.hasOthers) return undefined;
    const { content, reasoning = '' } = response.message;
    const rests = { 'text-delta': textOf(content), 'reasoning-delta': reasoning };
    const deltas: ChatEvent[] = [];
    for (const type of ['reasoning-delta', 'text-delta'] as const) {
      const shown = this.texts[type];
      if (!rests[type].startsWith(shown)) return undefined;
      const rest = rests[type].slice(shown.length);
      if (rest !== '') deltas.push({ type, text: rest });
    }
    const others = toDeltas(response).filter(
      ({ type }) => type === 'tool-call-delta' || type === 'citation',
    );
    return this.hasOthers ? deltas : [...deltas, ...others];
  }

  private pushText(event: TextDelta): readonly ChatEvent[] {
    const { type, text } = event;
    const shown = this.rules.length > 0 ? this.redactorOf(type).push(text) : text;
    if (this.stop || shown === '') return [];
    this.texts[type] += shown;
    return [shown === text ? event : { type, text: shown }];
  }

  private redactorOf(type: TextDelta['type']): StreamRedactor {
    return (this.redactors[type] ??= new StreamRedactor(
      this.rules,
      this.policies.options.replacement,
    ));
  }
}
