// What REST does with the settings of steps. Values that the step's provider does not describe may be secrets.
import { isSecret } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import type { StoredExecution } from '../../../store/authentication-flows.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { demand } from '../../permissions/administrators.ts'
import { plainResource } from '../common/plain-resource.ts'
import { byId, type Resource } from '../common/resource.ts'
import { executionIn, providerOf } from './authentication-executions.ts'
import { deleteConfigs, type Flows, readFlows } from './authentication-flows.ts'
import { nameConfig } from './authentication-steps.ts'

const kind = kinds.authenticatorConfig

// Keycloak: a body is read before anything is looked up.
const { reach: _, ...plain } = plainResource({
  kind: kind.name,
  view: 'view-realm',
  manage: 'manage-realm',
  find: byId(kind.name, 'Could not find authenticator config'),
})

/** The settings of steps. Keycloak: they are not listed. */
export const authenticatorConfigs: Resource = {
  ...plain,
  async get(context, place) {
    const shown = await plain.get(context, place)
    return withMask(shown, await stepsOf(context, place.id))
  },
  async create(context, place, body) {
    const id = await make(context, place, body)
    describeEvent(context, { representation: withMask({ ...body, id }, []) })
    return id
  },
  async replace(context, place, body) {
    describeEvent(context, { representation: withMask(body, await stepsOf(context, place.id)) })
    await plain.replace(context, place, body)
  },
}

/** Makes settings of an execution, instead of those that it has; gives their id. */
export async function addConfig(context: WriteContext, execution: string, body: Representation): Promise<string> {
  demand(context, plain.manage)
  const flows = await readFlows(context)
  const found = executionIn(flows, execution)
  const { config: before } = found.execution
  if (before && stepsWith(flows, before.id).length === 1) await deleteConfigs(context, [before.id])
  const id = await make(context, {}, body)
  await nameConfig(context, found, String(body.alias))
  describeEvent(context, { representation: withMask({ ...body, id }, [found.execution]) })
  return id
}

const make: Resource['create'] = async (context, place, body) => {
  demand(context, plain.manage)
  // Keycloak: it says that nothing is a conflict.
  if (!body.alias)
    throw failure('conflict', 'Failed to create authentication execution configuration with empty alias name')
  return plain.create(context, place, body)
}

/** The settings as they may be seen: those that the providers of their steps describe, and that are no secret. */
function withMask(shown: Representation, steps: readonly StoredExecution[]): Representation {
  const described = new Set(steps.flatMap((step) => providerOf(step)?.config.map(({ name }) => name) ?? []))
  const values = Object.entries((shown.config ?? {}) as Representation).map(([name, value]) => {
    const open = described.has(name) && !isSecret(kind, `config.${name}`)
    return [name, open ? value : MASK]
  })
  return { ...shown, config: Object.fromEntries(values) }
}

async function stepsOf(context: Context, config: string): Promise<StoredExecution[]> {
  return stepsWith(await readFlows(context), config)
}

function stepsWith({ byId }: Flows, config: string): StoredExecution[] {
  return [...byId.values()].flatMap(({ executions }) => executions).filter((step) => step.config?.id === config)
}
