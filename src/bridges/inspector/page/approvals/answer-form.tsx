import type { JSX } from 'preact';
import { type AnswerField, type AnswerTexts, fieldsOf } from './answer-fields.js';
import type { JsonSchema } from '../../../../core/chat/tool-definition.js';

/** The fields of an answer, by its schema. */
export function AnswerForm({
  schema,
  texts,
  id,
  onChange,
}: {
  readonly schema: JsonSchema;
  readonly texts: AnswerTexts;
  /** Unique in the page. */
  readonly id: string;
  readonly onChange: (texts: AnswerTexts) => void;
}): JSX.Element {
  return (
    <div class="answer">
      {fieldsOf(schema).map((field) => (
        <Field
          key={field.name}
          field={field}
          id={`${id}-${field.name}`}
          text={texts[field.name] ?? field.initial}
          onText={(text) => onChange({ ...texts, [field.name]: text })}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly field: AnswerField;
  readonly id: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Field(props: FieldProps): JSX.Element {
  const { field, id, text, onText } = props;
  if (field.kind === 'choices') return <Choices {...props} />;
  if (field.kind === 'yes-no')
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={text === 'true'}
          onChange={({ currentTarget }) => onText(String(currentTarget.checked))}
        />{' '}
        <Label field={field} />
      </label>
    );
  return (
    <label>
      <Label field={field} />
      <Input field={field} id={id} text={text} onText={onText} />
    </label>
  );
}

function Label({ field: { label, hint, isRequired, kind } }: { readonly field: AnswerField }) {
  return (
    <span>
      <bdi>{label}</bdi>
      {!isRequired && kind !== 'yes-no' && <span class="muted"> (may be left out)</span>}
      {kind === 'json' && <span class="muted"> (JSON)</span>}
      {hint !== '' && (
        <span class="hint">
          <bdi>{hint}</bdi>
        </span>
      )}
    </span>
  );
}

function Input({ field, text, onText }: FieldProps): JSX.Element {
  const { kind, isRequired, values, min, max } = field;
  if (kind === 'choice')
    return (
      <select value={text} onChange={({ currentTarget }) => onText(currentTarget.value)}>
        {text === '' && <option value="">Choose …</option>}
        {values.map((value, at) => (
          <option key={at} value={String(at)}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </option>
        ))}
      </select>
    );
  if (kind === 'long-text' || kind === 'json')
    return (
      <textarea
        rows={4}
        class={kind === 'json' ? 'mono' : undefined}
        value={text}
        spellcheck={kind !== 'json'}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    );
  const changed = {
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      onText(currentTarget.value),
  };
  if (kind === 'text') return <input type="text" {...changed} />;
  return (
    <input
      type="number"
      step={kind === 'integer' ? 1 : 'any'}
      min={min}
      max={max}
      required={isRequired}
      {...changed}
    />
  );
}

function Choices({ field, text, onText }: FieldProps): JSX.Element {
  const chosen = JSON.parse(text) as readonly number[];
  return (
    <fieldset>
      <legend>
        <Label field={field} />
      </legend>
      {field.values.map((value, at) => (
        <label key={at} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(at)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((each) => each !== at);
              onText(
                JSON.stringify(
                  currentTarget.checked
                    ? [...others, at].toSorted((one, other) => one - other)
                    : others,
                ),
              );
            }}
          />{' '}
          <bdi>{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
