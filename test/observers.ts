import { createAdvisorChain as createChain, type AdvisorHandler } from '../src/advisor/advisor-chain.js';
import type { Advisor } from '../src/advisor/advisor.js';
import type { ChatModel } from '../src/chat/chat-model.js';
import { ScriptedChatModel, type AdvisorContract } from '../src/testing/index.js';

/** Advisors in front of every chain that tests build: none, but in a run with test/observed-hooks.ts. */
export const observers: Advisor[] = [];

/** The chain of these advisors, behind those that observe it. */
export function createAdvisorChain(advisors: readonly Advisor[], model: ChatModel): AdvisorHandler {
  return createChain([...observers, ...advisors], model);
}

/** The contract of an advisor, behind those that observe it. */
export function observed(contract: AdvisorContract): AdvisorContract {
  return observers.length === 0 ? contract : { ...contract, create: () => behindObservers(contract.create()) };
}

function behindObservers(advisor: Advisor): Advisor {
  const { name, order, role } = advisor;
  return {
    name,
    order,
    ...(role && { role }),
    ...(advisor.adviseToolCall && { adviseToolCall: advisor.adviseToolCall.bind(advisor) }),
    ...(advisor.advise && {
      advise: (request, chain) => {
        const advise: Advisor['advise'] = (asked) => advisor.advise!(asked, chain);
        // what follows is the chain that the contract gives, so the model behind it is never asked
        return createChain([...observers, { name, order, advise }], new ScriptedChatModel([]))(request);
      },
    }),
  };
}
