import { checkMessage, type ContentPart, type MediaPart, type Message, type Metadata } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { requireText, requireValue, requireValues } from './arguments.js';
import type { TemplateParams, TemplateRenderer } from './template.js';

/** A system or user text under construction. */
export interface TextState {
  readonly text?: string;
  readonly params: TemplateParams;
  readonly metadata: Metadata;
  /** Media of a user text. */
  readonly parts: readonly ContentPart[];
}

export const NO_TEXT: TextState = { params: {}, metadata: {}, parts: [] };

/** Builds a system text step by step; every method gives a new spec. */
export class SystemSpec {
  constructor(
    readonly state: TextState,
    protected readonly where: string,
  ) {}

  /** The text; a template if there are params. */
  text(text: string): this {
    requireText(text, `${this.where}.text`);
    return this.copy({ text });
  }

  /** A value for the placeholder `{name}`. */
  param(name: string, value: unknown): this {
    requireText(name, `${this.where}.param: the name`);
    requireValue(value, `${this.where}.param("${name}")`);
    return this.copy({ params: { ...this.state.params, [name]: value } });
  }

  /** Values for placeholders. */
  params(params: TemplateParams): this {
    requireValues(params, `${this.where}.params`);
    return this.copy({ params: { ...this.state.params, ...params } });
  }

  /** Data that travels with the message; the model does not see it. */
  metadata(metadata: Metadata): this {
    requireValues(metadata, `${this.where}.metadata`);
    return this.copy({ metadata: { ...this.state.metadata, ...metadata } });
  }

  protected copy(change: Partial<TextState>): this {
    return new (this.constructor as new (state: TextState, where: string) => this)({ ...this.state, ...change }, this.where);
  }
}

/** Builds a user text with media step by step; every method gives a new spec. */
export class UserSpec extends SystemSpec {
  image(image: Omit<MediaPart<'image'>, 'type'>): this {
    return this.part({ type: 'image', ...image });
  }

  file(file: Omit<MediaPart<'file'>, 'type'> & { readonly name?: string }): this {
    return this.part({ type: 'file', ...file });
  }

  audio(audio: Omit<MediaPart<'audio'>, 'type'>): this {
    return this.part({ type: 'audio', ...audio });
  }

  /** Any parts, `raw` ones for the provider included; they follow the text. */
  part(...parts: readonly ContentPart[]): this {
    if (parts.length === 0) throw new InvalidArgumentError(`${this.where}.part: expected at least one part`);
    checkMessage({ role: 'user', content: parts }, `${this.where}.part`);
    return this.copy({ parts: [...this.state.parts, ...parts] });
  }
}

/** The system message of a state, if it has a text. */
export function toSystemMessage(state: TextState, render: TemplateRenderer): Message | undefined {
  if (state.text === undefined) return undefined;
  return { role: 'system', text: rendered(state.text, state, render), ...metadataOf(state) };
}

/** The user message of a state, if it has a text or media. */
export function toUserMessage(state: TextState, render: TemplateRenderer): Message | undefined {
  const { text, parts } = state;
  if (text === undefined && parts.length === 0) return undefined;
  const shown = text === undefined ? undefined : rendered(text, state, render);
  if (parts.length === 0) return { role: 'user', content: shown as string, ...metadataOf(state) };
  return { role: 'user', content: shown === undefined ? parts : [{ type: 'text', text: shown }, ...parts], ...metadataOf(state) };
}

/** A text is a template only where there are params: braces that a user typed stay braces. */
function rendered(text: string, { params }: TextState, render: TemplateRenderer): string {
  return Object.keys(params).length > 0 ? render(text, params) : text;
}

function metadataOf({ metadata }: TextState): { readonly metadata?: Metadata } {
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}
