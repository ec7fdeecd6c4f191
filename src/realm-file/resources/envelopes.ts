// Documents in other shapes than a realm's: resources of Kubernetes. Opened, they have that shape, and their old places.
import type { Json, Representation } from '../../kinds/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { letPass, type UnknownFields } from '../parse.ts'
import { anyOf, found } from '../words.ts'
import { type Document, type Head, restated } from '../yaml/document.ts'
import { collect, DocumentError, type Notice, type Problem, pointerOf } from '../yaml/problem.ts'
import { type Control, controlsIn, withoutEffect } from './controls.ts'
import { isKeycloakImport } from './placeholders.ts'
import { API_GROUP, API_VERSION, REALM, resourceKinds, SOURCE } from './resource-kinds.ts'
import { objectDocument, type Resource, realmDocument, refusal } from './resources.ts'

/** Documents in the form of a realm, and what was left out. */
export interface Opened {
  readonly documents: readonly Document[]
  readonly notices: readonly Notice[]
}

/**
 * The documents of a source, with what resources hold in their place: Regent's own, a `KeycloakRealmImport`, and lists of
 * such. A folder of manifests holds others too: they are left out, and a notice says so. Throws DocumentError.
 */
export function openEnvelopes(documents: readonly Document[], unknownFields: UnknownFields = 'error'): Opened {
  const problems: Problem[] = []
  const notices: Notice[] = []
  const controls: Control[] = []
  const all = documents.flatMap(itemsOf)
  const realms = realmNames(all)
  const opened = all.flatMap((document) => {
    if (!isResource(document.head)) return [document]
    const resource = document.value as Representation
    if (groupOf(resource) === API_GROUP && resource.kind !== SOURCE) {
      const unknown = unknownIn(document)
      if (unknownFields === 'error') problems.push(...unknown)
      else notices.push(...unknown.map(letPass))
      return collect(problems, () => openOwn(document, realms, controls))
    }
    if (isKeycloakImport(resource)) return collect(problems, () => openImport(document))
    const { kind, metadata } = resource
    const name = [kind ?? resource.apiVersion, (metadata as Representation | null)?.name].filter(isText).join(' ')
    notices.push({ position: document.start, message: `${name} states no realm and is left out` })
    return []
  })
  if (problems.length) throw new DocumentError(problems)
  const told = documents.flatMap((document) => document.notices)
  return { documents: opened, notices: [...told, ...notices, ...withoutEffect(controls)] }
}

/** The elements of a list as `kubectl get -o yaml` writes it; anything else as it is. */
function itemsOf(document: Document): Document[] {
  const { apiVersion, kind } = document.head
  if (!isText(apiVersion) || !isText(kind) || !kind.endsWith('List')) return [document]
  const { items } = document.value as Representation
  if (!Array.isArray(items)) return [document]
  return items.flatMap((value, at) =>
    isObject(value) ? itemsOf(restated(document, value, (path) => ['items', at, ...path])) : [],
  )
}

/** The names of realms, by namespace and name of the resources that state them. */
function realmNames(documents: readonly Document[]): ReadonlyMap<string, string> {
  return new Map(
    documents.flatMap((document): [string, string][] => {
      if (!isResource(document.head) || document.head.kind !== REALM) return []
      const { metadata, spec } = document.value as Representation
      if (!isObject(metadata) || !isObject(spec)) return []
      return isText(spec.realm) ? [[addressOf(metadata.namespace, String(metadata.name)), spec.realm]] : []
    }),
  )
}

function addressOf(namespace: Json = null, name: string): string {
  return JSON.stringify([namespace, name])
}

/** What a resource states beside its spec. */
function unknownIn(document: Document): Problem[] {
  const { apiVersion: _, kind, metadata: __, spec: ___, status: ____, ...others } = document.value as Representation
  return Object.keys(others).map((field) => ({
    position: document.locate([field]),
    message: `${String(kind)}: unknown field ${field}: the fields of a resource stand in its spec`,
    path: pointerOf([field]),
  }))
}

function openOwn(document: Document, realms: ReadonlyMap<string, string>, controls: Control[]): Document {
  const { apiVersion, kind, metadata = {}, spec = null } = document.value as Representation
  if (apiVersion !== API_VERSION) throw refusal(document, ['apiVersion'], `apiVersion must be ${API_VERSION}`)
  const name = String(kind)
  const described = resourceKinds.get(name)
  if (!described) throw refusal(document, ['kind'], `unknown kind${advice(name)}`)
  for (const [field, value] of Object.entries({ metadata, spec })) {
    if (!isObject(value)) throw refusal(document, [field], `${name}: ${field} must be an object, not ${found(value)}`)
  }
  const resource: Resource = { document, name, metadata: metadata as Representation, spec: spec as Representation }
  controls.push(...controlsIn(described, document, resource.spec))
  if (described.name === 'realm') return realmDocument(resource)
  return objectDocument(described, resource, (to, namespace) => realms.get(addressOf(namespace, to)) ?? to)
}

function advice(kind: string): string {
  const names = [...resourceKinds.keys()]
  const near = nearest(kind, names)
  return near === undefined ? `: there are ${anyOf(names, 'and')}` : `; did you mean ${near}?`
}

function openImport(document: Document): Document {
  const { spec = null } = document.value as Representation
  const realm = isObject(spec) ? (spec.realm ?? null) : null
  if (isObject(realm)) return restated(document, realm, (path) => ['spec', 'realm', ...path])
  const message = 'KeycloakRealmImport: spec.realm must be an object, the representation of a realm'
  throw refusal(document, ['spec', 'realm'], message)
}

function isResource({ apiVersion, kind }: Head): boolean {
  return isText(apiVersion) || (isText(kind) && resourceKinds.has(kind))
}

function groupOf({ apiVersion = null }: Representation): string {
  return String(apiVersion ?? API_GROUP).split('/')[0]!
}

function isObject(value: Json | undefined): value is Representation {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string'
}
