// A resource of Kubernetes as a document: what `regent apply` would read, with what Secrets hold in its place.
import { isList, type Json, type Representation } from '../kinds/json.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { resourceKinds } from '../realm-file/resources/resource-kinds.ts'
import { unwrapResources } from '../realm-file/resources/unwrap-resources.ts'
import { createDocument, type Document, markVariables } from '../realm-file/yaml/document.ts'
import { DocumentError, toJsonPointer } from '../realm-file/yaml/problem.ts'
import { nameOf, type Resource, SECRET_LABEL } from './resource.ts'
import { mayNameSecret } from './secrets/secret-places.ts'

/** A document of a resource, with what decides that it says something else. */
export interface Stated {
  readonly document: Document
  /** The resource as it was read: a plan that waits keeps it. */
  readonly value: Json
}

/** Finds the text of a Secret by namespace, name and key; undefined where there is none that may be read. */
export type Secrets = (namespace: string, name: string, key: string) => string | undefined

/** A resource names a Secret that is not there, or may not be read. */
export class SecretMissing extends Error {}

/** The text of a Secret that a resource of the namespace names. Throws SecretMissing. */
export function secretText(secrets: Secrets, namespace: string, name: string, key: string): string {
  const text = secrets(namespace, name, key)
  if (text !== undefined) return text
  throw new SecretMissing(
    `there is no Secret ${name} with the key ${key} and the label ${SECRET_LABEL}: "true" in ${namespace}`,
  )
}

/** What was made of a resource; `plain`: it names no Secrets, so that the realm alone decides what it says. */
interface Made {
  readonly realm: string
  readonly plain: boolean
  readonly key: string
  readonly stated: Stated
}

const made = new WeakMap<Resource, Made>()

/**
 * What the resource states in the realm; the same object as long as it says the same. Throws DocumentError where it is no
 * resource that Regent reads, and SecretMissing.
 */
export function statedBy(resource: Resource, realm: string, secrets: Secrets): Stated {
  const known = made.get(resource)
  if (known?.plain && known.realm === realm) return known.stated
  const texts = new Map<string, string>()
  const spec = filled(resource, secrets, texts)
  const key = JSON.stringify([realm, ...texts])
  if (known?.key === key) return known.stated
  const { apiVersion, kind, metadata } = resource
  const { realmRef: _, ...rest } = spec
  const isObject = kind !== 'Realm' && apiVersion.startsWith('regent.dev/')
  const value: Json = {
    apiVersion,
    kind,
    metadata: { name: metadata.name, namespace: metadata.namespace! },
    spec: isObject ? { ...rest, realm } : spec,
  }
  const document = markVariables(createDocument(nameOf(resource), value), value, texts.keys())
  const [opened] = unwrapResources([document]).documents
  const stated = { document: opened!, value }
  made.set(resource, { realm, plain: !texts.size, key, stated })
  return stated
}

/** The spec with the texts of Secrets in the place of what names them. `texts`: these, by JSON pointer. */
function filled(resource: Resource, secrets: Secrets, texts: Map<string, string>): Representation {
  const { kind, spec = {}, metadata } = resource
  const described = resourceKinds.get(kind)
  const textOf = (name: string, key: string) => secretText(secrets, metadata.namespace!, name, key)
  const placeholders = kind === 'KeycloakRealmImport' ? ((spec.placeholders ?? {}) as Placeholders) : {}
  const visit = (value: Json, path: DocumentPath): Json => {
    if (typeof value === 'string') return withPlaceholders(value, path)
    if (isList(value)) return value.map((one, at) => visit(one, [...path, at]))
    if (value === null || typeof value !== 'object') return value
    const { secretKeyRef, ...others } = value
    if (secretKeyRef !== undefined && !Object.keys(others).length) {
      if (described && !mayNameSecret(described, path.slice(1))) throw misplaced(nameOf(resource), path)
      const { name, key } = secretKeyRef as { name: string; key: string }
      const text = textOf(name, key)
      texts.set(toJsonPointer(path), text)
      return text
    }
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, visit(one, [...path, field])]))
  }
  const withPlaceholders = (text: string, path: DocumentPath) => {
    const whole = text.replaceAll(/\$\{([^{}]+)\}/g, (written, name: string) => {
      const secret = placeholders[name]?.secret
      return secret ? textOf(secret.name, secret.key) : written
    })
    if (whole !== text) texts.set(toJsonPointer(path), whole)
    return whole
  }
  return visit(spec, ['spec']) as Representation
}

function misplaced(file: string, path: DocumentPath): DocumentError {
  const message = 'names a Secret, and is not secret: state the value'
  return new DocumentError([{ position: { file: [file, ...path].join('/'), line: 1, column: 1 }, message }])
}

/** Keycloak: an import names the Secrets that stand for `${NAME}` in its realm. */
type Placeholders = Readonly<Record<string, { readonly secret?: { readonly name: string; readonly key: string } }>>
