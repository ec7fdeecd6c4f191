// Converts the resources of a Terraform state to the document of a realm.
import { type Representation, readObject } from '../../kinds/json.ts'
import { escapeVariables, transformTextsByPath } from '../substitute-variables.ts'
import { applyRules, OMITTED_SECRET } from './attribute-rules.ts'
import { authenticationTypes } from './authentication-types.ts'
import { authorizationTypes } from './authorization-types.ts'
import { clientTypes } from './client-types.ts'
import { componentTypes } from './component-types.ts'
import { identityProviderTypes } from './identity-provider-types.ts'
import { ObjectNode } from './object-node.ts'
import type { StateResource, TerraformState } from './read-state.ts'
import { realmTypes } from './realm-types.ts'
import { MissingReference, type RealmScope, References } from './references.ts'
import { commonRules, type ResourceTypes } from './resource-type.ts'
import { userTypes } from './user-types.ts'

/** The resource types that become parts of a document. */
export const resourceTypes: ResourceTypes = {
  ...realmTypes,
  ...componentTypes,
  ...authenticationTypes,
  ...clientTypes,
  ...authorizationTypes,
  ...identityProviderTypes,
  ...userTypes,
}

/** A resource, or an attribute of it, that is not in the document. */
export interface OmittedPart {
  readonly address: string
  /** The attribute; undefined for the resource as a whole. */
  readonly attribute?: string
  readonly reason: string
}

/** The document of a realm, and what the state has besides. */
export interface ConvertedState {
  readonly document: Representation
  readonly omittedParts: readonly OmittedPart[]
  /** The attributes with secrets that were left out. */
  readonly omittedSecrets: readonly OmittedPart[]
}

/** Returns the names of the realms that a state has resources of, sorted. */
export function listRealms({ resources }: TerraformState): string[] {
  return [
    ...new Set(resources.filter(({ isData }) => !isData).flatMap((resource) => getRealmName(resource) ?? [])),
  ].sort()
}

function getRealmName({ attributes: { realm_id: id = null, realm = null } }: StateResource): string | undefined {
  const name = id ?? realm
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** Converts the resources of a realm. With `secrets`, the document contains secrets in plain text. Pure. */
export function convertState(state: TerraformState, name: string, { secrets = false } = {}): ConvertedState {
  const node = new ObjectNode({ realm: name })
  const realm: RealmScope = { name, node, references: new References(state.resources) }
  const omitted: OmittedPart[] = []
  const resources = state.resources.filter((resource) => !resource.isData && getRealmName(resource) === name)
  // Executions of a flow are easier to read in their order.
  for (const resource of resources.toSorted((a, b) => getPriority(a) - getPriority(b)))
    convertResource(resource, { realm, secrets, omitted })
  const isSecret = ({ reason }: OmittedPart) => reason === OMITTED_SECRET
  return {
    document: readObject(transformTextsByPath(node.toRepresentation(), escapeVariables)),
    omittedParts: omitted.filter((part) => !isSecret(part)),
    omittedSecrets: omitted.filter(isSecret),
  }
}

const getPriority = ({ attributes: { priority = null } }: StateResource): number => Number(priority)

interface Conversion {
  readonly realm: RealmScope
  readonly secrets: boolean
  readonly omitted: OmittedPart[]
}

function convertResource({ address, type, attributes }: StateResource, { realm, secrets, omitted }: Conversion): void {
  const resourceType = Object.hasOwn(resourceTypes, type) ? resourceTypes[type] : undefined
  if (!resourceType) {
    omitted.push({ address, reason: 'resources of this type are not converted' })
    return
  }
  const { getNode, kind, rules } = resourceType
  const report = (attribute: string, reason: string) => omitted.push({ address, attribute, reason })
  try {
    const node = getNode(attributes, realm)
    applyRules(attributes, { ...commonRules, ...rules }, { node, scope: { realm, secrets, report, kind } })
  } catch (error) {
    if (!(error instanceof MissingReference)) throw error
    omitted.push({ address, reason: error.message })
  }
}
