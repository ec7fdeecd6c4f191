// Other forms of a realm, read into the one that Regent keeps, and written back for exports: nested groups, scope mappings
// beside the clients, what earlier versions and other tools call otherwise.
import type * as z from 'zod'
import type { Representation } from '../kinds/json.ts'
import type { KindName } from '../kinds/kind.ts'
import type { Path, Position } from '../lib/position.ts'
import type { Report } from './form.ts'
import { authentication } from './forms/authentication.ts'
import { authorization } from './forms/authorization.ts'
import { clientPolicies } from './forms/client-policies.ts'
import { clientTemplates } from './forms/client-templates.ts'
import { components } from './forms/components.ts'
import { earlier } from './forms/earlier.ts'
import { flowOverrides } from './forms/flow-overrides.ts'
import type { Form } from './forms/form.ts'
import { groups } from './forms/groups.ts'
import { identityProviders } from './forms/identity-providers.ts'
import { localization } from './forms/localization.ts'
import { organizations } from './forms/organizations.ts'
import { scopeMappings } from './forms/scope-mappings.ts'
import { serviceAccounts } from './forms/service-accounts.ts'
import { userFederation } from './forms/user-federation.ts'
import { userProfile } from './forms/user-profile.ts'
import type { Document } from './yaml/document.ts'
import { type Notice, pointerOf } from './yaml/problem.ts'

/** The forms in the order in which they are read; they are written the other way round. */
const forms: readonly Form[] = [
  earlier,
  clientTemplates,
  groups,
  organizations,
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

/** A realm in the form that Regent keeps, and where each part of it stands in the document. */
export interface Reshaped {
  readonly realm: Representation
  readonly locate: (path: Path) => Position
  readonly originOf: (path: Path) => Path
  /** Whether the object at the path is only named. */
  readonly isNamed: (path: Path) => boolean
  /** What the forms tell of the document. */
  readonly notices: readonly Notice[]
}

/** Reads every form. What cannot be read is reported by its place in the document. */
export function reshape(document: Document, realm: Representation, report: Report): Reshaped {
  const named = new Set<string>()
  const notices: Notice[] = []
  let origins: Origins = { moved: new Map(), fields: new Set() }
  let shape = realm
  for (const { read } of forms) {
    const before = origins
    const after = { moved: new Map(before.moved), fields: new Set(before.fields) }
    shape = read(shape, {
      report: (path, message) => report(originIn(before, path), message),
      note: (path, message) => notices.push({ position: document.locate(originIn(before, path)), message }),
      moved: (to, from) => {
        after.moved.set(pointerOf(to), originIn(before, from))
        after.fields.add(String(to[0]))
      },
      named: (path) => named.add(pointerOf(path)),
    })
    origins = after
  }
  const originOf = (path: Path) => originIn(origins, path)
  return {
    realm: shape,
    originOf,
    locate: (path) => document.locate(originOf(path)),
    isNamed: (path) => named.has(pointerOf(path)),
    notices,
  }
}

/** How documents write a kind: fields whose schema is another than that of the representation. */
export function shapeOf(kind: KindName, schemaOf: (kind: KindName) => z.ZodType): Record<string, z.ZodType> {
  return Object.assign({}, ...forms.map(({ shapes }) => shapes?.(schemaOf)[kind]))
}

/** A realm in the form in which people and other tools know it. */
export function shapedForExport(realm: Representation): Representation {
  return forms.toReversed().reduce((shape, { write }) => write(shape), realm)
}

/** Where parts of the realm stood in the document: paths by pointer, and the fields of the realm in which any moved. */
interface Origins {
  readonly moved: ReadonlyMap<string, Path>
  readonly fields: ReadonlySet<string>
}

function originIn({ moved, fields }: Origins, path: Path): Path {
  if (!fields.has(String(path[0]))) return path
  for (let length = path.length; length > 0; length--) {
    const origin = moved.get(pointerOf(path.slice(0, length)))
    if (origin) return [...origin, ...path.slice(length)]
  }
  return path
}
