import {
  checkMessage,
  type ContentPart,
  type MediaPart,
  type Message,
  type Metadata,
} from '../chat/message.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import { checkOption, rule, TEXT } from '../internal/options.js';
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

/** A text, or a function that builds one. */
export type TextInput<Spec> = string | ((spec: Spec) => Spec);

/** Builds a system text step by step; every method returns a new spec. */
export class SystemSpec {
  /** Beginning of error messages. */
  readonly where: string = 'system(…)';

  constructor(readonly state: TextState) {}

  /** Sets the text; a template if there are params. */
  text(text: string): this {
    checkOption(this.where, 'text', text, TEXT);
    return this.copyWith({ text });
  }

  /** Sets the value of the placeholder `{name}`. */
  param(name: string, value: unknown): this {
    return this.params({ [name]: value });
  }

  /** Sets the values of placeholders. */
  params(params: TemplateParams): this {
    checkNamedValues(this.where, 'params', params);
    return this.copyWith({ params: { ...this.state.params, ...frozenCopy(params) } });
  }

  /** Attaches data to the message; it is not sent to the model. */
  metadata(metadata: Metadata): this {
    checkNamedValues(this.where, 'metadata', metadata);
    return this.copyWith({ metadata: frozenCopy({ ...this.state.metadata, ...metadata }) });
  }

  protected copyWith(change: Partial<TextState>): this {
    const Spec = this.constructor as new (state: TextState) => this;
    return new Spec({ ...this.state, ...change });
  }
}

/** Builds a user text with media step by step; every method returns a new spec. */
export class UserSpec extends SystemSpec {
  override readonly where = 'user(…)';

  image(image: Omit<MediaPart<'image'>, 'type'>): this {
    return this.part({ type: 'image', ...image });
  }

  file(file: Omit<MediaPart<'file'>, 'type'> & { readonly name?: string }): this {
    return this.part({ type: 'file', ...file });
  }

  audio(audio: Omit<MediaPart<'audio'>, 'type'>): this {
    return this.part({ type: 'audio', ...audio });
  }

  /** Adds parts of any type, also `raw`; they follow the text. */
  part(...parts: readonly ContentPart[]): this {
    if (parts.length === 0)
      throw new InvalidArgumentError(`${this.where}: expected at least one part`);
    checkMessage({ role: 'user', content: parts }, this.where);
    return this.copyWith({ parts: [...this.state.parts, ...parts.map(frozenCopy)] });
  }
}

/** Sets a text, or applies a function to the spec, then sets values of placeholders. */
export function configureText<S extends SystemSpec>(
  Spec: new (state: TextState) => S,
  state: TextState,
  input: TextInput<S>,
  params: TemplateParams | undefined,
): TextState {
  const spec = new Spec(state);
  const changed = typeof input === 'function' ? input(spec) : spec.text(input);
  if (!(changed instanceof Spec))
    throw new InvalidArgumentError(
      `${spec.where}: the function must return the spec it was given, as in (s) => s.text('…')`,
    );
  return (params === undefined ? changed : changed.params(params)).state;
}

/** The system message of a state; empty if it has no text. */
export function toSystemMessage(state: TextState, render: TemplateRenderer): readonly Message[] {
  const text = renderText(state, render);
  return text === undefined
    ? []
    : [Object.freeze<Message>({ role: 'system', content: text, ...metadataOf(state) })];
}

/** The user message of a state; empty if it has neither text nor media. */
export function toUserMessage(state: TextState, render: TemplateRenderer): readonly Message[] {
  const { parts } = state;
  const text = renderText(state, render);
  if (text === undefined && parts.length === 0) return [];
  const textPart = text === undefined ? [] : [{ type: 'text', text } as const];
  const content =
    parts.length === 0 && text !== undefined ? text : frozenCopy([...textPart, ...parts]);
  return [Object.freeze<Message>({ role: 'user', content, ...metadataOf(state) })];
}

/** Only a text with params is a template, so braces typed by a user stay braces. */
function renderText({ text, params }: TextState, render: TemplateRenderer): string | undefined {
  return text !== undefined && Object.keys(params).length > 0 ? render(text, params) : text;
}

function metadataOf({ metadata }: TextState): { readonly metadata?: Metadata } {
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

export const VALUE = rule('a value', (value) => value !== undefined && value !== null);

const NAMED_VALUES = rule(
  'an object of named values',
  (value) => typeof value === 'object' && value !== null && !(Symbol.iterator in value),
);

/** @throws {@link InvalidArgumentError} if a value is not an object of non-null values by name */
export function checkNamedValues(where: string, what: string, values: object): void {
  checkOption(where, what, values, NAMED_VALUES);
  for (const [name, value] of Object.entries(values)) {
    checkOption(where, `a name in ${what}`, name, TEXT);
    checkOption(where, `"${name}"`, value, VALUE);
  }
}

/** A system text, or a function that builds one. */
export type SystemInput = TextInput<SystemSpec>;

/** A user text, parts, or a function that builds one. */
export type UserInput = TextInput<UserSpec> | readonly ContentPart[];
