// The steps of workflows, which change users or clients. Keycloak: a role, group or required action that does not exist is reported, and the user stays as
// they are.
import { type FlatFields, isSameValue } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { readObject, readObjects, readTexts } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { isUserField } from '../../kinds/user.ts'
import { selectKeys } from '../../store/objects.ts'
import { writers } from '../kinds/index.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { readStepSetting, toWorkflowGroupPath, toWorkflowRoleKey } from '../realms/workflows.ts'
import { notifyUsers } from './notify-user.ts'
import type { StepExecution } from './step-execution.ts'

/** Executes a step for users or clients. Those that do not exist any more are ignored. */
export async function executeStep(execution: StepExecution, resources: readonly string[]): Promise<void> {
  const { context, workflow, step } = execution
  const filter = { ids: resources }
  if (step.uses === 'notify-user') return notifyUsers(execution, await writers.user.list(context, filter))
  if (workflow.type === 'USERS') return userSteps[step.uses]?.(execution, await writers.user.list(context, filter))
  const clients = await writers.client.list(context, filter)
  if (step.uses === 'delete-client') return writers.client.delete(context, clients)
  const enabled = clients.filter(({ representation }) => representation.enabled === true)
  if (step.uses === 'disable-client' && enabled.length)
    await writers.client.update(
      context,
      enabled.map((live) => ({ live, set: { enabled: false } })),
    )
}

/** Whether a step deletes what the workflow is about, so that no other step follows. */
export const isDeletion = ({ step }: Pick<StepExecution, 'step'>): boolean =>
  step.uses === 'delete-user' || step.uses === 'delete-client'

/** Executes a step for users. */
type UserStep = (execution: StepExecution, users: readonly LiveObject[]) => Promise<void>

/** Keycloak: the required actions that steps can add and remove, besides those of extensions. */
const REQUIRED_ACTIONS: ReadonlySet<string> = new Set([
  'CONFIGURE_RECOVERY_AUTHN_CODES',
  'CONFIGURE_TOTP',
  'TERMS_AND_CONDITIONS',
  'UPDATE_EMAIL',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
])

/** The steps that change users, by type. */
const userSteps: Readonly<Record<string, UserStep>> = {
  'add-required-action': addRequiredAction,
  'remove-required-action': removeRequiredAction,
  'set-user-attribute': (execution, users) => setFields(execution, users, listAttributes(execution)),
  'remove-user-attribute': (execution, users) => {
    const names = readStepSetting(execution.step.representation, 'attribute')
    return setFields(execution, users, Object.fromEntries(names.map((name) => [toFieldPath(name), null])))
  },
  'grant-role': (execution, users) => changeRoles(execution, users, 'add'),
  'revoke-role': (execution, users) => changeRoles(execution, users, 'remove'),
  'join-group': (execution, users) => changeGroups(execution, users, 'add'),
  'leave-group': (execution, users) => changeGroups(execution, users, 'remove'),
  'unlink-user': unlink,
  'disable-user': (execution, users) =>
    setFields(
      execution,
      users.filter(({ representation }) => representation.enabled === true),
      { enabled: false },
    ),
  'delete-user': ({ context }, users) => writers.user.delete(context, users),
}

async function setFields({ context }: StepExecution, users: readonly LiveObject[], set: FlatFields): Promise<void> {
  await update(
    { context },
    users.map((live) => ({ live, set })),
  )
}

async function update({ context }: Pick<StepExecution, 'context'>, updates: readonly ObjectUpdate[]): Promise<void> {
  if (updates.length) await writers.user.update(context, updates)
}

/** Keycloak: the settings are the attributes, except those whose names begin with the names of settings of all steps. */
function listAttributes({ step }: StepExecution): FlatFields {
  const names = Object.keys(readObject(step.representation.with))
  const attributes = names.filter((name) => !name.startsWith('after') && !name.startsWith('priority'))
  return Object.fromEntries(
    attributes.map((name) => {
      const values = readStepSetting(step.representation, name)
      return [toFieldPath(name), isUserField(name) ? (values[0] ?? null) : values]
    }),
  )
}

/** Returns the path of an attribute. The first and last name, the username and the email address are fields. */
const toFieldPath = (name: string): string => (isUserField(name) ? name : `attributes.${name}`)

/** Keycloak: the action may be written with hyphens, in any case. */
async function addRequiredAction(execution: StepExecution, users: readonly LiveObject[]): Promise<void> {
  const { context, step, report } = execution
  const [text] = readStepSetting(step.representation, 'action')
  const action = text?.replaceAll('-', '_').toUpperCase() ?? ''
  if (!REQUIRED_ACTIONS.has(action)) return report(`the required action "${text ?? ''}" does not exist`)
  const [live] = await listObjects(context, 'requiredAction', { keys: [[action]] })
  if (live?.representation.enabled !== true) return report(`the required action ${action} is not enabled`)
  await updateRequiredActions(execution, users, (actions) => [...new Set([...actions, action])].sort())
}

async function removeRequiredAction(execution: StepExecution, users: readonly LiveObject[]): Promise<void> {
  const [action = ''] = readStepSetting(execution.step.representation, 'action')
  if (!REQUIRED_ACTIONS.has(action)) return execution.report(`the required action "${action}" does not exist`)
  await updateRequiredActions(execution, users, (actions) => actions.filter((alias) => alias !== action))
}

async function updateRequiredActions(
  execution: StepExecution,
  users: readonly LiveObject[],
  change: (actions: readonly string[]) => readonly string[],
): Promise<void> {
  const updates = users.map((live) => ({
    live,
    set: { requiredActions: [...change(readTexts(live.representation.requiredActions))] },
  }))
  await update(execution, updates)
}

async function changeRoles(
  execution: StepExecution,
  users: readonly LiveObject[],
  change: 'add' | 'remove',
): Promise<void> {
  const keys = readStepSetting(execution.step.representation, 'role').map(toWorkflowRoleKey)
  const existing = await listExisting(execution, 'role', keys)
  const [clientRoles, realmRoles] = [true, false].map((isClient) =>
    existing.filter(({ length }) => length > 1 === isClient),
  )
  const relations = { realmRoles: { [change]: realmRoles }, clientRoles: { [change]: clientRoles } }
  await update(
    execution,
    users.map((live) => ({ live, set: {}, relations })),
  )
}

async function changeGroups(
  execution: StepExecution,
  users: readonly LiveObject[],
  change: 'add' | 'remove',
): Promise<void> {
  const keys = readStepSetting(execution.step.representation, 'group').map((path): Key => [toWorkflowGroupPath(path)])
  const groups = await listExisting(execution, 'group', keys)
  await update(
    execution,
    users.map((live) => ({ live, set: {}, relations: { groups: { [change]: groups } } })),
  )
}

/** Returns the keys up to the first of an object that does not exist, which is reported. One statement. */
async function listExisting(
  { context, report }: StepExecution,
  kind: 'role' | 'group',
  keys: readonly Key[],
): Promise<readonly Key[]> {
  if (!keys.length) return []
  const rows = await selectKeys(context.tx, context.realm.number, { kind, filter: { keys } })
  const existing = new Set(rows.map(({ key }) => JSON.stringify(key)))
  const at = keys.findIndex((key) => !existing.has(JSON.stringify(key)))
  if (at < 0) return keys
  report(`the ${kind} "${keys[at]!.slice(-2).join('/')}" does not exist`)
  return keys.slice(0, at)
}

/** Keycloak: `*` means all identity providers. */
async function unlink(execution: StepExecution, users: readonly LiveObject[]): Promise<void> {
  const aliases = readStepSetting(execution.step.representation, 'idp').map((alias) => alias.trim())
  if (!aliases.length) return execution.report('no identity provider is configured (idp)')
  const isUnlinked = (alias: string) => aliases.includes('*') || aliases.includes(alias)
  const field = kinds.user.fields.federatedIdentities!
  const updates = users.map((live) => {
    const identities = readObjects(live.representation.federatedIdentities)
    return {
      live,
      set: { federatedIdentities: identities.filter(({ identityProvider }) => !isUnlinked(String(identityProvider))) },
    }
  })
  await update(
    execution,
    updates.filter(
      ({ live, set }) => !isSameValue(field, live.representation.federatedIdentities ?? [], set.federatedIdentities),
    ),
  )
}
