import { costOf } from '../../core/chat/price.js';
import type { ModelCallRecord } from '../../core/chat/run-report.js';
import type { InspectedTurn } from './inspected-turn.js';
import type { RecordedTurn } from './recorded-turn.js';
import type { Redactor } from './redactor.js';
import { usageOf } from './turn-summary.js';

/** The calls of the ledger of a turn, each with its cost if that is known. */
export function pricedLedger(
  { origin }: RecordedTurn,
  redactor: Redactor,
): InspectedTurn['ledger'] {
  const { ledger, price } = origin.request.run;
  return ledger.map((record) => {
    const { usage } = record;
    const cost = costOf([record], price);
    return {
      ...(redactor.json(record) as unknown as ModelCallRecord),
      ...(usage && { usage: usageOf(usage, redactor) }),
      ...(cost !== undefined && { cost }),
    };
  });
}

/** The prices of the calls of the model of a turn, by the ids of their entries; of calls with a known price alone. */
export function callCosts({ calls, origin }: RecordedTurn): ReadonlyMap<number, number> {
  const { ledger, price } = origin.request.run;
  const costs = new Map<number, number>();
  if (!price) return costs;
  const chats = ledger.filter(({ kind }) => kind === 'chat');
  for (const { entry, attempt, call } of calls) {
    // Calls of a nested run, which the ledger has too, come after the one that asked for it.
    const isOf = (record: (typeof chats)[number]): boolean =>
      record.iteration === call.iteration && record.attempt === attempt;
    const record = chats.find(isOf);
    const cost = record?.usage && costOf([record], price);
    if (cost !== undefined) costs.set(entry.id, cost);
  }
  return costs;
}
