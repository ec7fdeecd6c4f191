// What REST does with the settings of steps. Values that the step's provider does not describe may be secrets.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/kind.ts'
import { MASK } from '../../kinds/mask.ts'
import type { StoredExecution } from '../../store/authentication-flows.ts'
import { describeEvent } from '../admin-events.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import { present } from '../present.ts'
import { replacement, withoutNulls } from '../put.ts'
import { executionIn, providerOf } from './authentication-executions.ts'
import { deleteConfigs, type Flows, readFlows } from './authentication-flows.ts'
import { nameConfig } from './authentication-steps.ts'
import { getObject, newObject } from './resource.ts'

const kind = kinds.authenticatorConfig
const find = (context: Context, id: string) => getObject(context, kind.name, id, 'Could not find authenticator config')

/** The settings with that id. */
export async function getConfig(context: Context, id: string): Promise<Representation> {
  demand(context, 'view-realm')
  const shown = present(context.vault, await find(context, id))
  return withMask(shown, settingsOf(stepsWith(await readFlows(context), id)))
}

/** Makes settings that no step has yet; gives their id. */
export async function createConfig(context: WriteContext, body: Representation): Promise<string> {
  demand(context, 'manage-realm')
  const id = await make(context, body)
  describeEvent(context, { representation: withMask({ ...body, id }, NONE) })
  return id
}

/** Makes settings of an execution, instead of those that it has; gives their id. */
export async function addConfig(context: WriteContext, execution: string, body: Representation): Promise<string> {
  demand(context, 'manage-realm')
  const flows = await readFlows(context)
  const found = executionIn(flows, execution)
  const { config: before } = found.execution
  if (before && stepsWith(flows, before.id).length === 1) await deleteConfigs(context, [before.id])
  const id = await make(context, body)
  await nameConfig(context, found, String(body.alias))
  describeEvent(context, { representation: withMask({ ...body, id }, settingsOf([found.execution])) })
  return id
}

/** Changes settings: what is not stated is gone, and what is masked stays. */
export async function replaceConfig(context: WriteContext, id: string, body: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const live = await find(context, id)
  describeEvent(context, { representation: withMask(body, settingsOf(stepsWith(await readFlows(context), id))) })
  const set = replacement(live, { config: {}, ...withoutNulls(body) })
  await writers.authenticatorConfig.update(context, [{ live, set }])
}

/** Deletes settings; the steps that had them stay. */
export async function deleteConfig(context: WriteContext, id: string): Promise<void> {
  demand(context, 'manage-realm')
  await writers.authenticatorConfig.delete(context, [await find(context, id)])
}

async function make(context: WriteContext, body: Representation): Promise<string> {
  const stated = withoutNulls(body)
  // Keycloak: it says that nothing is a conflict.
  if (!stated.alias)
    throw failure('conflict', 'Failed to create authentication execution configuration with empty alias name')
  const [made] = await writers.authenticatorConfig.create(context, [newObject(stated)])
  return made!.id
}

/** The settings as they may be seen: those that are described and no secret. */
function withMask(shown: Representation, described: ReadonlySet<string>): Representation {
  const values = Object.entries((shown.config ?? {}) as Representation).map(([name, value]) => {
    const open = described.has(name) && !isSecret(kind, `config.${name}`)
    return [name, open ? value : MASK]
  })
  return { ...shown, config: Object.fromEntries(values) }
}

function stepsWith({ byId }: Flows, config: string): StoredExecution[] {
  return [...byId.values()].flatMap(({ executions }) => executions).filter((step) => step.config?.id === config)
}

/** The settings that the providers of the steps describe. */
function settingsOf(steps: readonly StoredExecution[]): ReadonlySet<string> {
  return new Set(steps.flatMap((step) => providerOf(step)?.config.map(({ name }) => name) ?? []))
}

const NONE: ReadonlySet<string> = new Set()
