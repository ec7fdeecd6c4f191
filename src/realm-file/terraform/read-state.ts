// Reads the state of Terraform or OpenTofu: the objects of the Keycloak provider, with their attributes and addresses.
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
} from '../../kinds/json.ts'

/** The version of the format of states since Terraform 0.12, and of all versions of OpenTofu. */
const STATE_VERSION = 4
const PREFIX = 'keycloak_'

/** An instance of a resource in a state. */
export interface StateResource {
  /** The address, such as `module.apps.keycloak_openid_client.shop["web"]`. */
  readonly address: string
  /** The type, such as `keycloak_openid_client`. */
  readonly type: string
  /** Whether it is a data source, which the configuration reads only. */
  readonly isData: boolean
  readonly attributes: Representation
}

/** The resources of a state, and the number of resources of other providers by type. */
export interface TerraformState {
  readonly resources: readonly StateResource[]
  readonly otherTypes: ReadonlyMap<string, number>
}

/**
 * Reads a state. `name` is its file in messages.
 * @throws Error if the text is no state, or one that cannot be read, such as an encrypted one.
 */
export function readState(name: string, text: string): TerraformState {
  const state = readObject(parseState(name, text))
  if (state.encrypted_data !== undefined)
    throw new Error(`${name}:1:1: The state is encrypted. Write it decrypted: tofu state pull > state.json`)
  if (state.version === undefined || !isList(state.resources))
    throw new Error(`${name}:1:1: This is no Terraform state. Write one: terraform state pull > state.json`)
  if (state.version !== STATE_VERSION)
    throw new Error(
      `${name}:1:1: The state has version ${JSON.stringify(state.version)}, and only version ${STATE_VERSION} is read. Write it with Terraform 0.12 or later: terraform state pull > state.json`,
    )
  const instances = readObjects(state.resources).flatMap(listInstances)
  const isOther = ({ type }: StateResource) => !type.startsWith(PREFIX)
  const otherTypes = Map.groupBy(
    instances.filter((resource) => isOther(resource) && !resource.isData),
    ({ type }) => type,
  )
  return {
    resources: instances.filter((resource) => !isOther(resource)),
    otherTypes: new Map([...otherTypes].map(([type, { length }]) => [type, length])),
  }
}

function parseState(name: string, text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, line = '1', column = '1'] = /line (\d+) column (\d+)/.exec(String(error)) ?? []
    throw new Error(
      `${name}:${line}:${column}: This is no JSON, and thus no Terraform state. Write one: terraform state pull > state.json`,
    )
  }
}

/** Returns the current objects of a resource. Deposed ones, which Terraform is about to delete, are left out. */
function listInstances(resource: Representation): StateResource[] {
  const { module = null, mode, type, name, instances } = resource
  const isData = mode === 'data'
  const address = [module, isData ? 'data' : null, type, name].filter((part) => part != null).join('.')
  return readObjects(instances)
    .filter(({ deposed = null }) => deposed === null)
    .map((instance) => ({
      address: address + formatIndex(instance.index_key ?? null),
      type: readText(type) ?? '',
      isData,
      attributes: isObject(instance.attributes) ? instance.attributes : {},
    }))
}

function formatIndex(key: Json): string {
  return key === null ? '' : `[${JSON.stringify(key)}]`
}
