// Unwraps Kubernetes resources: each becomes a document in the format of a realm, with the positions in the resource.
import { isList, isObject, type Json, type Representation, readObject, readPath, readText } from '../../kinds/json.ts'
import { API_GROUP, API_VERSION, REALM_RESOURCE, resourceKinds, SOURCE_RESOURCE } from '../../kinds/resource-kinds.ts'
import { findNearestWord } from '../../lib/nearest-word.ts'
import { describeType, joinWords } from '../message-words.ts'
import { toUnknownFieldWarning, type UnknownFieldPolicy } from '../parse-realm.ts'
import { type Document, type DocumentHeader, deriveDocument } from '../yaml/document.ts'
import {
  collectProblems,
  DocumentError,
  type DocumentProblem,
  type DocumentWarning,
  toJsonPointer,
} from '../yaml/problem.ts'
import { isKeycloakClient, unwrapKeycloakClient } from './keycloak-clients.ts'
import { isKeycloakImport } from './keycloak-import.ts'
import { type KubernetesSetting, parseKubernetesSettings, toIgnoredSettingWarnings } from './kubernetes-settings.ts'
import { createResourceError, type ParsedResource, toObjectDocument, toRealmDocument } from './resource-documents.ts'

/** Documents in the format of a realm. */
export interface UnwrappedDocuments {
  readonly documents: readonly Document[]
  readonly warnings: readonly DocumentWarning[]
}

/**
 * Unwraps the resources among the documents of a source: Regent's own, those of Keycloak's operator for realms and clients, and lists of
 * these. Other resources, which a folder of manifests may contain, are ignored with a warning.
 * @throws DocumentError for invalid resources.
 */
export function unwrapResources(
  documents: readonly Document[],
  unknownFields: UnknownFieldPolicy = 'error',
): UnwrappedDocuments {
  const problems: DocumentProblem[] = []
  const resourceWarnings: DocumentWarning[] = []
  const settings: KubernetesSetting[] = []
  const items = documents.flatMap(listItems)
  const realms = indexRealms(items)
  const unwrapped = items.flatMap((document) => {
    if (!isResource(document.header)) return [document]
    const resource = readObject(document.value)
    if (getApiGroup(resource) === API_GROUP && resource.kind !== SOURCE_RESOURCE) {
      const unknown = listUnknownFields(document)
      if (unknownFields === 'error') problems.push(...unknown)
      else resourceWarnings.push(...unknown.map(toUnknownFieldWarning))
      return collectProblems(problems, () => {
        const { kind, parsed } = parseResource(document)
        settings.push(...parseKubernetesSettings(kind, document, parsed.spec))
        if (kind.name === 'realm') return toRealmDocument(parsed)
        return toObjectDocument(kind, parsed, (name, namespace) => realms.get(formatReference(namespace, name)) ?? name)
      })
    }
    if (isKeycloakImport(resource)) return collectProblems(problems, () => unwrapImport(document))
    if (isKeycloakClient(resource))
      return collectProblems(problems, () =>
        unwrapKeycloakClient(document, (warning) => resourceWarnings.push(warning)),
      )
    const name = [resource.kind ?? resource.apiVersion, readPath(resource, ['metadata', 'name'])]
    const message = `${name.map(readText).filter(Boolean).join(' ')} declares no realm and is ignored`
    resourceWarnings.push({ position: document.start, message })
    return []
  })
  if (problems.length) throw new DocumentError(problems)
  const documentWarnings = documents.flatMap(({ warnings }) => warnings)
  return {
    documents: unwrapped,
    warnings: [...documentWarnings, ...resourceWarnings, ...toIgnoredSettingWarnings(settings)],
  }
}

/** Returns the items of a list such as `kubectl get -o yaml` prints; any other document as it is. */
function listItems(document: Document): Document[] {
  const { apiVersion, kind } = document.header
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !kind.endsWith('List')) return [document]
  const { items } = readObject(document.value)
  if (!isList(items)) return [document]
  return items.flatMap((value, at) =>
    isObject(value) ? listItems(deriveDocument(document, value, (path) => ['items', at, ...path])) : [],
  )
}

/** Maps references to realms, by namespace and name of their resource, to the names of the realms. */
function indexRealms(documents: readonly Document[]): ReadonlyMap<string, string> {
  return new Map(
    documents.flatMap((document): [string, string][] => {
      if (!isResource(document.header) || document.header.kind !== REALM_RESOURCE) return []
      const { metadata, spec } = readObject(document.value)
      const realm = readPath(spec, ['realm'])
      if (!isObject(metadata) || typeof realm !== 'string') return []
      return [[formatReference(metadata.namespace, String(metadata.name)), realm]]
    }),
  )
}

function formatReference(namespace: Json = null, name: string): string {
  return JSON.stringify([namespace, name])
}

/** Returns a problem for each field beside the spec. */
function listUnknownFields(document: Document): DocumentProblem[] {
  const { apiVersion: _, kind, metadata: __, spec: ___, status: ____, ...unknownFields } = readObject(document.value)
  return Object.keys(unknownFields).map((field) => ({
    position: document.locate([field]),
    message: `${String(kind)}: unknown field ${field}: put fields of the object into spec`,
    path: toJsonPointer([field]),
  }))
}

function parseResource(document: Document) {
  const { apiVersion, kind: kindValue, metadata = {}, spec = null } = readObject(document.value)
  if (apiVersion !== API_VERSION)
    throw createResourceError(document, ['apiVersion'], `apiVersion must be ${API_VERSION}`)
  const name = String(kindValue)
  const kind = resourceKinds.get(name)
  if (!kind) throw createResourceError(document, ['kind'], `unknown kind ${name}${getKindAdvice(name)}`)
  const readMember = (field: string, value: Json): Representation => {
    if (isObject(value)) return value
    throw createResourceError(document, [field], `${name}: ${field} must be an object, not ${describeType(value)}`)
  }
  const parsed: ParsedResource = {
    document,
    name,
    metadata: readMember('metadata', metadata),
    spec: readMember('spec', spec),
  }
  return { kind, parsed }
}

function getKindAdvice(kind: string): string {
  const names = [...resourceKinds.keys()]
  const intended = findNearestWord(kind, names) ?? names.find((name) => name === `Realm${kind}`)
  return intended === undefined ? `: the kinds are ${joinWords(names, 'and')}` : `; did you mean ${intended}?`
}

function unwrapImport(document: Document): Document {
  const realm = readPath(document.value, ['spec', 'realm'])
  if (isObject(realm)) return deriveDocument(document, realm, (path) => ['spec', 'realm', ...path])
  const message = `${readText(document.header.kind)}: spec.realm must be an object, the representation of a realm`
  throw createResourceError(document, ['spec', 'realm'], message)
}

function isResource({ apiVersion, kind }: DocumentHeader): boolean {
  return typeof apiVersion === 'string' || (typeof kind === 'string' && resourceKinds.has(kind))
}

function getApiGroup({ apiVersion }: Representation): string {
  return String(apiVersion ?? API_GROUP).split('/')[0]!
}
