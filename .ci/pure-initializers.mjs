// Pure calls around the values that the top level of a chunk computes: bundlers of applications leave out those not used. A
// chunk has the code of many modules, and `sideEffects` of package.json is about whole chunks.
import { parseSync } from 'rolldown/utils';

/** Nodes that may have an effect to a bundler, which then keeps the variable and all that its value names. */
const EFFECTS =
  /^(CallExpression|NewExpression|TaggedTemplateExpression|SpreadElement|MemberExpression)$/;
const FUNCTION = /^(FunctionExpression|ArrowFunctionExpression)$/;

const children = (node) =>
  Object.values(node)
    .flat()
    .filter((each) => typeof each?.type === 'string');

/** True if a node of a kind runs when the expression does: bodies of functions run later. */
function runs(node, kind) {
  if (FUNCTION.test(node.type)) return false;
  return kind.test(node.type) || children(node).some((child) => runs(child, kind));
}

/** Values of top-level variables and of static fields of classes. */
function initializersOf(node) {
  if (!node) return [];
  if (node.type === 'VariableDeclaration')
    return node.declarations.flatMap(({ init }) => initializersOf(init));
  if (!node.type.startsWith('Class')) return [node];
  return node.body.body
    .filter((member) => member.type === 'PropertyDefinition' && member.static)
    .flatMap(({ value }) => initializersOf(value));
}

function topLevelInitializers(program) {
  return program.body
    .map((statement) =>
      statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement,
    )
    .filter((each) => /^(VariableDeclaration|ClassDeclaration)$/.test(each?.type))
    .flatMap(initializersOf);
}

/** Code with each of these values computed by a call that is marked as pure, on unchanged lines. */
export function withPureInitializers(fileName, code) {
  const { program } = parseSync(fileName, code);
  const marked = topLevelInitializers(program).filter(
    (node) => runs(node, EFFECTS) && !runs(node, /^AwaitExpression$/),
  );
  return marked
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end }) => {
      const value = text.slice(start, end);
      const body = value.startsWith('{') ? `(${value})` : value;
      return `${text.slice(0, start)}/* @__PURE__ */ (() => ${body})()${text.slice(end)}`;
    }, code);
}
