// The REST operations on the settings of authentication steps. Values that no provider of steps describes are masked:
// they may be secrets.
import { allStepProviders } from '../../../kinds/authentication-providers.ts'
import { isSecret } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObject } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import type { StoredExecution } from '../../../store/authentication-flows.ts'
import type { WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import { type AdminResource, createGetter } from '../common/resource.ts'
import { assignConfig } from './authentication-execution-changes.ts'
import { getExecutionInFlow } from './authentication-executions.ts'
import { deleteConfigs, type FlowIndex, indexFlows } from './authentication-flows.ts'

const kind = kinds.authenticatorConfig

// Keycloak: the body is read before the object is looked up.
const { checkAccess: _, ...plainResource } = createPlainResource({
  kind: kind.name,
  view: 'view-realm',
  manage: 'manage-realm',
  getObject: createGetter(kind.name, 'Could not find authenticator config'),
})

/** The REST operations on the settings of steps. Keycloak: there is no list. */
export const authenticatorConfigs: AdminResource = {
  ...plainResource,
  async get(context, address) {
    return maskConfig(await plainResource.get(context, address))
  },
  async create(context, address, body) {
    const id = await createConfig(context, address, body)
    describeAdminEvent(context, { representation: maskConfig({ ...body, id }) })
    return id
  },
  async replace(context, address, body) {
    describeAdminEvent(context, { representation: maskConfig(body) })
    await plainResource.replace(context, address, body)
  },
}

/** Creates settings for an execution, which replace those that it has. Returns their id. */
export async function addConfig(context: WriteContext, executionId: string, body: Representation): Promise<string> {
  requirePermissions(context, plainResource.manage)
  checkAlias(body)
  const flows = await indexFlows(context)
  const target = getExecutionInFlow(flows, executionId)
  const { config: previous } = target.execution
  if (previous && filterByConfig(flows, previous.id).length === 1) await deleteConfigs(context, [previous.id])
  const id = await createConfig(context, {}, body)
  await assignConfig(context, target, String(body.alias))
  describeAdminEvent(context, { representation: maskConfig({ ...body, id }) })
  return id
}

const createConfig: AdminResource['create'] = async (context, address, body) => {
  requirePermissions(context, plainResource.manage)
  checkAlias(body)
  return plainResource.create(context, address, body)
}

/** Throws conflict without an alias. Keycloak: an unknown execution is reported after that. */
function checkAlias({ alias }: Representation): void {
  if (!alias) throw failure('conflict', 'Failed to create authentication execution configuration with empty alias name')
}

/** The settings that providers of steps describe. */
const described = new Set([...allStepProviders.values()].flatMap(({ config }) => config.map(({ name }) => name)))

/** Masks the settings that are secrets, or that no provider of steps describes. */
function maskConfig(representation: Representation): Representation {
  const values = Object.entries(readObject(representation.config)).map(([name, value]) => {
    const isOpen = described.has(name) && !isSecret(kind, `config.${name}`)
    return [name, isOpen ? value : MASK]
  })
  return { ...representation, config: Object.fromEntries(values) }
}

function filterByConfig({ byId }: FlowIndex, config: string): StoredExecution[] {
  return [...byId.values()].flatMap(({ executions }) => executions).filter((step) => step.config?.id === config)
}
