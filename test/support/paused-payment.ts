import { appendFileSync } from 'node:fs';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  type KeyValueStore,
  type Reconcile,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { SECRET } from './paused-turns.js';

/** The parts of a client in which its deployments differ. */
export interface Payment {
  readonly store: KeyValueStore;
  /** File with a line for each effect of a tool. */
  readonly effects: string;
  readonly system?: string;
  /** True in the deployment that resumes: its model only answers. */
  readonly isNew?: boolean;
  /** Amount of the payment that never ends, after its effect. */
  readonly hangsAt?: number;
  readonly lease?: number;
  readonly reconcile?: Reconcile;
}

const input = { type: 'object', properties: { amount: { type: 'number' } } } as const;

/** A client that looks up an account, and asks before it pays. */
export function paymentClient({
  store,
  effects,
  system,
  isNew,
  hangsAt,
  lease,
  reconcile,
}: Payment): ChatClient {
  const tool = (name: string, effect: 'read' | 'write'): Tool =>
    defineTool({
      name,
      effect,
      input,
      execute: (args) => {
        appendFileSync(effects, `${name} ${JSON.stringify(args)}\n`);
        if (hangsAt === undefined || args['amount'] !== hangsAt) return `${name} done`;
        process.stdout.write('hangs\n');
        return new Promise<string>(() => undefined);
      },
    });
  const calls = [
    { id: 'c1', name: 'look', arguments: {} },
    { id: 'c2', name: 'pay', arguments: { amount: 5 } },
    { id: 'c3', name: 'pay', arguments: { amount: 6 } },
  ];
  const model = new ScriptedChatModel(isNew ? ['Paid.'] : [{ toolCalls: calls }]);
  return ChatClient.builder(model)
    .defaultSystem(system ?? 'You pay.')
    .defaultTools(tool('look', 'read'), tool('pay', 'write'))
    .defaultAdvisors(new ApprovalAdvisor({ pause: { secrets: SECRET, store, lease, reconcile } }))
    .build();
}
