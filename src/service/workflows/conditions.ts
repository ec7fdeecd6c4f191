// Conditions of workflows: has-role, is-member-of, has-identity-provider-link and has-user-attribute.
import type { Key, KindName } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import type { UserCondition } from '../../store/workflows/conditions.ts'
import { evaluateForUsers } from '../../store/workflows/executions.ts'
import type { Context } from '../context/context.ts'
import type { WorkflowExpression } from '../realms/workflow-expressions.ts'
import { toWorkflowGroupPath, toWorkflowRoleKey } from '../realms/workflows.ts'

/** The objects that conditions name, by the name of the condition. */
const references: Readonly<Record<string, { readonly kind: KindName; readonly toKey: (parameter: string) => Key }>> = {
  'has-role': { kind: 'role', toKey: toWorkflowRoleKey },
  'is-member-of': { kind: 'group', toKey: (path) => [toWorkflowGroupPath(path)] },
  'has-identity-provider-link': { kind: 'identityProvider', toKey: (alias) => [alias] },
}

/** Returns the condition with the ids of the objects that it names. One statement per kind of these. */
export async function resolveCondition(context: Context, expression: WorkflowExpression): Promise<UserCondition> {
  const { tx, realm } = context
  const keysByKind = Map.groupBy(listReferences(expression), ({ kind }) => kind)
  const ids = new Map<string, string>()
  for (const [kind, listed] of keysByKind)
    for (const { id, key } of await selectKeys(tx, realm.number, {
      kind,
      filter: { keys: listed.map(({ key }) => key) },
    }))
      ids.set(toAddress(kind, key), id)
  return toUserCondition(expression, ids)
}

/**
 * Evaluates a condition for users. Returns it by id of the user: null if it names an object that does not exist, so that it is unknown.
 * Users who do not exist are left out. One statement, and one per kind of objects that the condition names.
 */
export async function evaluateCondition(
  context: Context,
  expression: WorkflowExpression,
  users: readonly string[],
): Promise<ReadonlyMap<string, boolean | null>> {
  const condition = await resolveCondition(context, expression)
  const results = await evaluateForUsers(context.tx, context.realm.number, { users, condition })
  return new Map(results.map(({ id, isMet }) => [id, isMet]))
}

const toAddress = (kind: KindName, key: Key): string => JSON.stringify([kind, key])

function listReferences(expression: WorkflowExpression): { readonly kind: KindName; readonly key: Key }[] {
  if (expression.type === 'not') return listReferences(expression.operand)
  if (expression.type !== 'name') return expression.operands.flatMap(listReferences)
  const reference = references[expression.name]
  if (!reference || expression.parameter === undefined) return []
  return [{ kind: reference.kind, key: reference.toKey(expression.parameter) }]
}

function toUserCondition(expression: WorkflowExpression, ids: ReadonlyMap<string, string>): UserCondition {
  if (expression.type === 'not') return { type: 'not', operand: toUserCondition(expression.operand, ids) }
  if (expression.type !== 'name')
    return { type: expression.type, operands: expression.operands.map((operand) => toUserCondition(operand, ids)) }
  const { name, parameter } = expression
  if (parameter === undefined) return { type: 'unknown' }
  if (name === 'has-user-attribute') return toAttributeCondition(parameter)
  const { kind, toKey } = references[name]!
  const key = toKey(parameter)
  const id = ids.get(toAddress(kind, key))
  if (id === undefined) return { type: 'unknown' }
  if (kind === 'group') return { type: 'group', path: key[0]! }
  return { type: kind === 'role' ? 'role' : 'identityProvider', id }
}

/** Keycloak: the parameter is a line of a Java properties file, such as `department:it,hr`. */
function toAttributeCondition(parameter: string): UserCondition {
  const [, name = '', value = ''] =
    /^[ \t\f]*((?:[^\\:= \t\f]|\\.)*)(?:[ \t\f]*[:=][ \t\f]*|[ \t\f]+)?(.*)$/s.exec(parameter) ?? []
  const unescapeText = (text: string) => text.replaceAll(/\\(.)/gs, '$1')
  const values = value === '' ? [] : unescapeText(value).replace(/,+$/, '').split(',')
  return { type: 'attribute', name: unescapeText(name), values }
}
