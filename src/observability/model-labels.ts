import type { Attributes } from '@opentelemetry/api';
import type { ClosedSet } from './closed-set.js';
import { Attribute } from './names.js';

/** Labels of a model call that was answered: of its duration and of its tokens. */
interface AnswerLabels {
  readonly answered: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
}

/** The labels of the calls of one model, made once: a turn has a handful of measures for each call. */
export class ModelLabels {
  /** Those of what is measured once for a call. */
  readonly request: Attributes;
  private readonly byAnswer = new Map<string | undefined, AnswerLabels>();

  /**
   * @param chunk those of what is measured for each chunk; fewer, since a meter makes a text of them each time
   * @param server those of the server
   * @param models the models that are told apart
   */
  constructor(
    readonly chunk: Attributes,
    server: Attributes,
    private readonly models: ClosedSet,
  ) {
    this.request = { ...chunk, ...server };
  }

  /** @param model the one that answered */
  answeredBy(model: string | undefined): AnswerLabels {
    const label = model === undefined ? undefined : this.models.label(model);
    const known = this.byAnswer.get(label);
    if (known) return known;
    const answered = label === undefined ? this.request : { ...this.request, [Attribute.RESPONSE_MODEL]: label };
    const labels = {
      answered,
      input: { ...answered, [Attribute.TOKEN_TYPE]: 'input' },
      output: { ...answered, [Attribute.TOKEN_TYPE]: 'output' },
    };
    this.byAnswer.set(label, labels);
    return labels;
  }
}
