// The Kubernetes names of Regent's resource kinds.
import type { Kind, KindName } from '../../kinds/kind.ts'
import { listResourceNames, SOURCE_RESOURCE } from '../../kinds/resource-kinds.ts'

/** The names of a resource kind. */
export interface ResourceNames {
  readonly kind: string
  /** The plural in URLs. */
  readonly plural: string
  /** The short name for kubectl. */
  readonly shortName: string
}

/** The category of all kinds: `kubectl get regent` lists resources of every kind. */
export const CATEGORY = 'regent'

const shortNames: Readonly<Record<KindName, string>> = {
  realm: 'rlm',
  authenticatorConfig: 'rlmac',
  authenticationFlow: 'rlmf',
  clientScope: 'rlmcs',
  client: 'rlmc',
  protocolMapper: 'rlmpm',
  organization: 'rlmo',
  organizationGroup: 'rlmog',
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

/** The names of RealmSource, the resource of a git repository that declares realms. */
export const realmSourceNames: ResourceNames = { kind: SOURCE_RESOURCE, plural: 'realmsources', shortName: 'rlms' }

/** Returns the names of the resource that declares objects of a kind. */
export function getResourceNames(kind: Kind): ResourceNames {
  const [resource] = listResourceNames(kind)
  return { kind: resource, plural: toPlural(resource), shortName: shortNames[kind.name] }
}

function toPlural(resource: string): string {
  const lower = resource.toLowerCase()
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`
}
