// Converts realms between the formats of documents and Regent's own: nested groups, scope mappings beside clients, legacy fields.
import type * as z from 'zod'
import type { Representation } from '../kinds/json.ts'
import type { KindName } from '../kinds/kind.ts'
import type { DocumentPath, SourcePosition } from '../lib/source-position.ts'
import type { ReportProblem } from './check-structure.ts'
import { applications } from './formats/applications.ts'
import { assignedScopes } from './formats/assigned-scopes.ts'
import { attributeSettings } from './formats/attribute-settings.ts'
import { authentication } from './formats/authentication.ts'
import { authorization } from './formats/authorization.ts'
import { clientPolicies } from './formats/client-policies.ts'
import { clientTemplates } from './formats/client-templates.ts'
import { components } from './formats/components.ts'
import { defaultRoles } from './formats/default-roles.ts'
import { flowOverrides } from './formats/flow-overrides.ts'
import type { FormatConverter } from './formats/format-converter.ts'
import { groups } from './formats/groups.ts'
import { identityProviders } from './formats/identity-providers.ts'
import { localization } from './formats/localization.ts'
import { organizations } from './formats/organizations.ts'
import { scopeMappings } from './formats/scope-mappings.ts'
import { serviceAccounts } from './formats/service-accounts.ts'
import { userFederation } from './formats/user-federation.ts'
import { userProfile } from './formats/user-profile.ts'
import { workflows } from './formats/workflows.ts'
import { listMigrations } from './versions/version-steps.ts'
import type { Document } from './yaml/document.ts'
import { type DocumentWarning, toJsonPointer } from './yaml/problem.ts'

/** The converters in the order of reading. Writing uses the opposite order. */
const converters: readonly FormatConverter[] = [
  attributeSettings,
  applications,
  defaultRoles,
  clientTemplates,
  assignedScopes,
  groups,
  organizations,
  workflows,
  components,
  userFederation,
  userProfile,
  localization,
  clientPolicies,
  scopeMappings,
  authorization,
  identityProviders,
  flowOverrides,
  serviceAccounts,
  authentication,
]

/** A realm in Regent's format, with the path in the document of each of its parts. */
export interface ConvertedRealm {
  readonly realm: Representation
  /** Returns the position in the document of a path in this realm. */
  readonly locate: (path: DocumentPath) => SourcePosition
  /** Returns the path in the document of a path in this realm. */
  readonly toDocumentPath: (path: DocumentPath) => DocumentPath
  /** Whether the document only refers to the object at a path. */
  readonly isReferenceOnly: (path: DocumentPath) => boolean
  readonly warnings: readonly DocumentWarning[]
}

/** Converts a realm from the formats of documents. Reports what cannot be converted, with its path in the document. */
export function convertFromDocument(document: Document, realm: Representation, report: ReportProblem): ConvertedRealm {
  const references = new Set<string>()
  const warnings: DocumentWarning[] = []
  let moves: Moves = { origins: new Map(), fields: new Set() }
  let converted = realm
  for (const read of [...listMigrations(realm), ...converters.map((converter) => converter.read)]) {
    const before = moves
    const after = { origins: new Map(before.origins), fields: new Set(before.fields) }
    converted = read(converted, {
      report: (path, message) => report(findOrigin(before, path), message),
      warn: (path, message) => warnings.push({ position: document.locate(findOrigin(before, path)), message }),
      recordMove: (to, from) => {
        after.origins.set(toJsonPointer(to), findOrigin(before, from))
        after.fields.add(String(to[0]))
      },
      markReference: (path) => references.add(toJsonPointer(path)),
    })
    moves = after
  }
  const toDocumentPath = (path: DocumentPath) => findOrigin(moves, path)
  return {
    realm: converted,
    toDocumentPath,
    locate: (path) => document.locate(toDocumentPath(path)),
    isReferenceOnly: (path) => references.has(toJsonPointer(path)),
    warnings,
  }
}

/** Returns the schemas of a kind's fields that documents write differently from representations, by field. */
export function getDocumentSchemas(
  kind: KindName,
  getSchema: (kind: KindName) => z.ZodType,
): Record<string, z.ZodType> {
  return Object.assign({}, ...converters.map(({ schemas }) => schemas?.(getSchema)[kind]))
}

/** Converts a realm to the format of Keycloak's exports. */
export function convertForExport(realm: Representation): Representation {
  return converters.toReversed().reduce((converted, { write }) => write(converted), realm)
}

/** The parts of a realm that were moved. */
interface Moves {
  /** The paths in the document, by the JSON pointer in the converted realm. */
  readonly origins: ReadonlyMap<string, DocumentPath>
  /** The fields of the realm that contain moved parts. */
  readonly fields: ReadonlySet<string>
}

function findOrigin({ origins, fields }: Moves, path: DocumentPath): DocumentPath {
  if (!fields.has(String(path[0]))) return path
  for (let length = path.length; length > 0; length--) {
    const origin = origins.get(toJsonPointer(path.slice(0, length)))
    if (origin) return [...origin, ...path.slice(length)]
  }
  return path
}
