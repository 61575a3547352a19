import type { Attributes } from '@opentelemetry/api';
import type { ObservedAdvisor, ObservedEnding } from '../chat/observation.js';
import { Attribute } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';

/** An advisor. */
export class AdvisorRecord implements SpanRecord {
  readonly spanName: string;

  constructor(private readonly advisor: ObservedAdvisor) {
    this.spanName = `advisor ${advisor.name}`;
  }

  attributes(): Attributes {
    const { name, order } = this.advisor;
    return { [Attribute.ADVISOR_NAME]: name, [Attribute.ADVISOR_ORDER]: order };
  }

  endAttributes(_ending: ObservedEnding, { exclusive }: SpanEnd): Attributes {
    return { [Attribute.ADVISOR_EXCLUSIVE_TIME]: exclusive };
  }
}
