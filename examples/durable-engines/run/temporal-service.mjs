// The process of the recipe: one attempt of the activity, whose workflow is in the process that started this one.
import { createActivities } from '../temporal-activities.ts';

const { WORKFLOW, TURN, QUESTION } = process.env;

const send = async (path, args) => {
  const init = { method: 'POST', body: JSON.stringify(args) };
  return (await fetch(`${WORKFLOW}/${path}`, init)).json();
};
const handle = {
  query: (name, ...args) => send(name, args),
  signal: (name, ...args) => send(name, args),
};

const activities = createActivities({ workflow: { getHandle: () => handle } });
await send('outcome', [await activities.attempt(TURN, QUESTION)]);
