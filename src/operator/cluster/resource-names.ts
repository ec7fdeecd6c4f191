// What the kinds of Regent's resources are called in Kubernetes.
import type { Kind, KindName } from '../kinds/kind.ts'
import { listResourceNames, SOURCE_RESOURCE } from '../realm-file/resources/resource-kinds.ts'

/** The names of a kind of resources. */
export interface ResourceNames {
  readonly kind: string
  /** As addresses have it. */
  readonly plural: string
  /** For whoever types it often. */
  readonly short: string
}

/** `kubectl get regent` lists resources of all kinds. */
export const CATEGORY = 'regent'

const short: Readonly<Record<KindName, string>> = {
  realm: 'rlm',
  authenticatorConfig: 'rlmac',
  authenticationFlow: 'rlmf',
  clientScope: 'rlmcs',
  client: 'rlmc',
  protocolMapper: 'rlmpm',
  organization: 'rlmo',
  identityProvider: 'rlmidp',
  identityProviderMapper: 'rlmidpm',
  role: 'rlmr',
  group: 'rlmg',
  component: 'rlmco',
  localization: 'rlml',
  user: 'rlmu',
  workflow: 'rlmw',
  requiredAction: 'rlmra',
  authorizationPolicy: 'rlmap',
  authorizationResource: 'rlmar',
  authorizationScope: 'rlmas',
}

/** The names of the resource that says where realms are declared. */
export const sourceNames: ResourceNames = { kind: SOURCE_RESOURCE, plural: 'realmsources', short: 'rlms' }

/** The names of the resource that holds objects of the kind. */
export function namesOf(kind: Kind): ResourceNames {
  const [resource] = listResourceNames(kind) as [string]
  return { kind: resource, plural: pluralOf(resource), short: short[kind.name] }
}

function pluralOf(resource: string): string {
  const lower = resource.toLowerCase()
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`
}
