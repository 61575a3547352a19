import type { Tool } from './tool.js';

/** A copy of a tool with some parts changed. What it keeps goes on to run on the original, which may be an object of a class. */
export function changeTool(tool: Tool, changes: Partial<Tool>): Tool {
  const validate: Tool['validate'] = tool.validate && ((args) => tool.validate?.(args) ?? { value: args });
  const toContent: Tool['toContent'] = tool.toContent && ((value) => tool.toContent?.(value) ?? '');
  return {
    definition: tool.definition,
    metadata: tool.metadata,
    ...(validate && { validate }),
    call: (args, context) => tool.call(args, context),
    ...(toContent && { toContent }),
    ...changes,
  };
}
