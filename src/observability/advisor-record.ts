import type { ObservedAdvisor, ObservedEnding } from '../chat/observation.js';
import type { AttributeSet } from './attribute-set.js';
import { Attribute } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';

/** An advisor. */
export class AdvisorRecord implements SpanRecord {
  readonly spanName: string;

  constructor(private readonly advisor: ObservedAdvisor) {
    this.spanName = `advisor ${advisor.name}`;
  }

  addBeginning(to: AttributeSet): void {
    to.add(Attribute.ADVISOR_NAME, this.advisor.name);
    to.add(Attribute.ADVISOR_ORDER, this.advisor.order);
  }

  addEnd(to: AttributeSet, _ending: ObservedEnding, { exclusive }: SpanEnd): void {
    to.add(Attribute.ADVISOR_EXCLUSIVE_TIME, exclusive);
  }
}
