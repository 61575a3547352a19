import {
  createAdvisorChain as createChain,
  runAdvisor,
} from '../../src/core/advisor/advisor-chain.js';
import { wrapsRest, type Advisor, type AdvisorHandler } from '../../src/core/advisor/advisor.js';
import { Position } from '../../src/core/advisor/position.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import { Observable } from '../../src/core/internal/rxjs.js';
import { ScriptedChatModel, type AdvisorContract } from '../../src/testing/index.js';

/** Advisors in front of every chain that tests build: none, except in a run with observed-hooks.ts. */
export const observers: Advisor[] = [];

/** The chain of these advisors, behind those that observe it. */
export function createAdvisorChain(advisors: readonly Advisor[], model: ChatModel): AdvisorHandler {
  const ordered = [...observers, ...advisors];
  const chain = createChain(ordered, model);
  return (request) =>
    new Observable((subscriber) => new Position(chain, ordered).subscribe(request, subscriber));
}

/** The contract of an advisor, behind those that observe it. */
export function observed(contract: AdvisorContract): AdvisorContract {
  return observers.length === 0
    ? contract
    : { ...contract, create: () => behindObservers(contract.create()) };
}

function behindObservers(advisor: Advisor): Advisor {
  const { name, order, role } = advisor;
  return {
    name,
    order,
    ...(role && { role }),
    ...(advisor.adviseToolCall && { adviseToolCall: advisor.adviseToolCall.bind(advisor) }),
    ...(wrapsRest(advisor) && {
      advise: (request, chain) => {
        const advise: Advisor['advise'] = (current) => runAdvisor(advisor, current, chain);
        // the contract gives the rest of the chain, so this model is never called
        return createAdvisorChain([{ name, order, advise }], new ScriptedChatModel([]))(request);
      },
    }),
  };
}
