// Puts the values of numeric constants in their places in the bundle. esbuild does not: the
// bundle loads modules on demand, so each constant is a variable that a function sets, and V8 loads
// and checks it at every use, also in the paths of the interpreter and the devices.
import { parse } from 'acorn';
import { full } from 'acorn-walk';

const UNARY = { '-': a => -a, '~': a => ~a, '+': a => a };
const BINARY = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '>>>': (a, b) => a >>> b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
};

/** The value of a numeric expression of literals and `known` names; undefined for all others. */
function numberOf(node, known) {
  if (node.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined;
  if (node.type === 'Identifier') return known.get(node.name);
  if (node.type === 'UnaryExpression' && Object.hasOwn(UNARY, node.operator)) {
    const value = numberOf(node.argument, known);
    return value === undefined ? undefined : UNARY[node.operator](value);
  }
  if (node.type !== 'BinaryExpression' || !Object.hasOwn(BINARY, node.operator)) return undefined;
  const [left, right] = [numberOf(node.left, known), numberOf(node.right, known)];
  return left === undefined || right === undefined ? undefined : BINARY[node.operator](left, right);
}

/** The nodes that bind or set the identifiers of a pattern. */
function namesOf(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap(property => namesOf(property.value ?? property.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf);
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    default:
      return [];
  }
}

/** The names that a node binds or sets. */
function boundBy(node) {
  switch (node.type) {
    case 'VariableDeclarator':
      return namesOf(node.id);
    case 'AssignmentExpression':
    case 'ForInStatement':
    case 'ForOfStatement':
      return namesOf(node.left);
    case 'UpdateExpression':
      return namesOf(node.argument);
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [...namesOf(node.id), ...node.params.flatMap(namesOf)];
    case 'ClassDeclaration':
    case 'ClassExpression':
      return namesOf(node.id);
    case 'CatchClause':
      return namesOf(node.param);
    default:
      return [];
  }
}

/**
 * The expressions that esbuild's function for a module on demand always evaluates, once:
 * `var init_a = __esm({ "a.ts"() { A = 1, B = 2; } })`.
 */
function initialisersOf({ init }) {
  if (init?.type !== 'CallExpression' || init.callee.name !== '__esm') return [];
  return init.arguments[0].properties
    .flatMap(({ value }) => value.body.body)
    .filter(({ type }) => type === 'ExpressionStatement')
    .flatMap(({ expression }) =>
      expression.type === 'SequenceExpression' ? expression.expressions : [expression],
    );
}

/**
 * The constants of a script: top-level names with a finite number as value, which nothing else
 * binds or sets. `spans`: the places that define them, with what stays there. The initialiser of a
 * module may set a constant: code that read it before read undefined, and reads the value now. A
 * name that another function sets is state: until then it is undefined.
 */
function constantsOf(text) {
  const { body } = parse(text, { ecmaVersion: 2022 });
  /** By name: the nodes that bind or set it. */
  const bound = new Map();
  full({ type: 'Program', body }, node => {
    for (const name of boundBy(node)) {
      if (bound.has(name)) bound.get(name).push(node);
      else bound.set(name, [node]);
    }
  });
  const declared = body.flatMap(node => (node.type === 'VariableDeclaration' ? node.declarations : []));
  const initialisers = new Set(declared.flatMap(initialisersOf));
  const candidates = declared.flatMap(declarator => {
    if (declarator.id.type !== 'Identifier') return [];
    const { name } = declarator.id;
    const [setter, ...more] = bound.get(name).filter(node => node !== declarator);
    if (declarator.init) return setter ? [] : [{ name, declarator, value: declarator.init }];
    const isSet = initialisers.has(setter) && setter.operator === '=' && more.length === 0;
    return isSet ? [{ name, declarator, setter, value: setter.right }] : [];
  });
  const known = new Map();
  for (let size = -1; size < known.size; ) {
    size = known.size;
    for (const { name, value } of candidates) {
      const number = known.has(name) ? undefined : numberOf(value, known);
      if (Number.isFinite(number) && !Object.is(number, -0)) known.set(name, number);
    }
  }
  let free = '$';
  while (text.includes(free)) free += '$';
  const spans = candidates
    .filter(({ name }) => known.has(name))
    .flatMap(({ name, declarator, setter }) => [
      { start: declarator.start, end: declarator.end, text: `${free}${name} = 0` },
      ...(setter ? [{ start: setter.start, end: setter.end, text: String(known.get(name)) }] : []),
    ])
    .sort((a, b) => a.start - b.start);
  return { known, spans };
}

/**
 * The script with its numeric constants in place, by `transform` of esbuild with `options`.
 *
 * Problem: a name may be bound again in an inner scope, where it is not the constant. Trick: the
 * constant's declaration gets a name that the script does not have, which esbuild drops as unused,
 * and `define` replaces only names that nothing declares.
 * Proof: a name that is bound or set in a second place, in whatever scope, is no constant.
 */
export async function foldConstants(text, transform, options) {
  const { known, spans } = constantsOf(text);
  let at = 0;
  const parts = [];
  for (const { start, end, text: stays } of spans) {
    parts.push(text.slice(at, start), stays);
    at = end;
  }
  parts.push(text.slice(at));
  const define = Object.fromEntries([...known].map(([name, value]) => [name, String(value)]));
  const { code } = await transform(parts.join(''), { ...options, define, treeShaking: true });
  return code;
}
