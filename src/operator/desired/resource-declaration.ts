// Converts resources to the documents that `regent apply` would read, with references to Secrets replaced by their texts.

import { isList, isObject, type Json, type Representation, readObject } from '../../kinds/json.ts'
import { resourceKinds } from '../../kinds/resource-kinds.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { KEYCLOAK_IMPORT } from '../../realm-file/resources/keycloak-import.ts'
import { unwrapResources } from '../../realm-file/resources/unwrap-resources.ts'
import { createDocument, type Document, markVariables } from '../../realm-file/yaml/document.ts'
import { DocumentError, toJsonPointer } from '../../realm-file/yaml/problem.ts'
import type { FindSecretText, SecretKey } from '../cluster/cluster-cache.ts'
import { getResourceName, type Resource, SECRET_LABEL } from '../cluster/resource.ts'
import { canReferToSecret } from './secret-fields.ts'
import { getPasswordKey } from './secret-template.ts'

/** The document of a resource. */
export interface ResourceDeclaration {
  readonly document: Document
  /** The resource that the document was created from, as a saved plan stores it. */
  readonly value: Json
}

/** A Secret that a resource refers to does not exist, or the operator may not read it. */
export class SecretNotFound extends Error {}

/** Returns the text of a Secret that a resource refers to. @throws SecretNotFound */
export function getSecretText(findSecretText: FindSecretText, secretKey: SecretKey): string {
  const text = findSecretText(secretKey)
  if (text !== undefined) return text
  const { namespace, name, key } = secretKey
  throw new SecretNotFound(
    `There is no Secret ${name} with the key ${key} and the label ${SECRET_LABEL}: "true" in the namespace ${namespace}.`,
  )
}

/** The last declaration of a resource. */
interface CachedDeclaration {
  readonly realm: string
  /** Whether the resource refers to Secrets, whose texts may change. */
  readonly hasSecrets: boolean
  /** The realm and the texts of Secrets, as JSON: the declaration depends on nothing else besides the resource. */
  readonly key: string
  readonly declaration: ResourceDeclaration
}

const cache = new WeakMap<Resource, CachedDeclaration>()

/**
 * Returns what a resource declares in a realm. The result is the same object until the resource or its Secrets change.
 * @throws DocumentError if Regent cannot read the resource; SecretNotFound if a Secret is missing
 */
export function readDeclaration(
  resource: Resource,
  realm: string,
  findSecretText: FindSecretText,
): ResourceDeclaration {
  const cached = cache.get(resource)
  if (cached && !cached.hasSecrets && cached.realm === realm) return cached.declaration
  const { spec, texts } = resolveSecrets(resource, findSecretText)
  const key = JSON.stringify([realm, ...texts])
  if (cached?.key === key) return cached.declaration
  const declaration = createDeclaration(resource, toDocumentValue(resource, realm, spec), texts)
  cache.set(resource, { realm, hasSecrets: texts.size > 0, key, declaration })
  return declaration
}

/** Marks the texts of Secrets as variables, so that a plan does not show them. */
function createDeclaration(resource: Resource, value: Json, texts: ReadonlyMap<string, string>): ResourceDeclaration {
  const document = markVariables(createDocument(getResourceName(resource), value), value, texts.keys())
  const [unwrapped] = unwrapResources([document]).documents
  return { document: unwrapped!, value }
}

/** Returns the resource without status and server fields. In an object of a realm, the name of the realm replaces `realmRef`. */
function toDocumentValue({ apiVersion, kind, metadata }: Resource, realm: string, spec: Representation): Json {
  const { realmRef: _, ...rest } = spec
  const isObjectOfRealm = kind !== 'Realm' && apiVersion.startsWith('regent.dev/')
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name, namespace: metadata.namespace! },
    spec: isObjectOfRealm ? { ...rest, realm } : spec,
  }
}

/** A spec without references to Secrets, and the texts that replaced them by JSON pointer. */
interface ResolvedSpec {
  readonly spec: Representation
  readonly texts: ReadonlyMap<string, string>
}

function resolveSecrets(resource: Resource, findSecretText: FindSecretText): ResolvedSpec {
  const resolver = new SecretResolver(resource, findSecretText)
  const spec = readObject(resolver.resolve(resource.spec ?? {}, ['spec']))
  if (!hasGeneratedPassword(resource)) {
    if (resource.kind === 'RealmUser' && isObject(spec.writeSecretTo)) throw createNeedlessSecret(resource)
    return { spec, texts: resolver.texts }
  }
  const credentials = isList(spec.credentials) ? spec.credentials : []
  const value = getGeneratedPassword(resource, findSecretText)
  resolver.texts.set(toJsonPointer(['spec', 'credentials', credentials.length, 'value']), value)
  return { spec: { ...spec, credentials: [...credentials, { type: 'password', value }] }, texts: resolver.texts }
}

/** Whether the password of a RealmUser is generated, and written to the Secret of `writeSecretTo`. */
export function hasGeneratedPassword({ kind, spec = {} }: Resource): boolean {
  if (kind !== 'RealmUser' || !isObject(spec.writeSecretTo)) return false
  const credentials = isList(spec.credentials) ? spec.credentials : []
  return !credentials.some((credential) => readObject(credential).type === 'password')
}

/** Returns the password in the Secret of a RealmUser. @throws SecretNotFound until it is generated */
function getGeneratedPassword({ spec = {}, metadata }: Resource, findSecretText: FindSecretText): string {
  const name = String(readObject(spec.writeSecretTo).name)
  const password = findSecretText({ namespace: metadata.namespace!, name, key: getPasswordKey(spec) })
  if (password === undefined) throw new SecretNotFound(`The password of the user is not in the Secret ${name} yet.`)
  return password
}

/** Replaces references to Secrets in one resource. */
class SecretResolver {
  readonly texts = new Map<string, string>()
  readonly #resource: Resource
  readonly #findSecretText: FindSecretText
  /** Keycloak: an import names the Secrets whose texts replace `${NAME}` in its realm. */
  readonly #placeholders: Representation

  constructor(resource: Resource, findSecretText: FindSecretText) {
    this.#resource = resource
    this.#findSecretText = findSecretText
    this.#placeholders = resource.kind === KEYCLOAK_IMPORT ? readObject(resource.spec?.placeholders) : {}
  }

  /** Returns a value of the spec with all references replaced. */
  resolve(value: Json, path: DocumentPath): Json {
    if (typeof value === 'string') return this.#replacePlaceholders(value, path)
    if (isList(value)) return value.map((element, index) => this.resolve(element, [...path, index]))
    if (!isObject(value)) return value
    const { secretKeyRef, ...rest } = value
    if (secretKeyRef !== undefined && !Object.keys(rest).length) return this.#resolveReference(secretKeyRef, path)
    if (this.#isKeycloakSecret(path)) return this.#resolveKeycloakSecret(value, path)
    return Object.fromEntries(
      Object.entries(value).map(([field, member]) => [field, this.resolve(member, [...path, field])]),
    )
  }

  #resolveReference(secretKeyRef: Json, path: DocumentPath): string {
    const kind = resourceKinds.get(this.#resource.kind)
    if (kind && !canReferToSecret(kind, path.slice(1))) throw createMisplacedReference(this.#resource, path)
    const text = this.#getText(secretKeyRef)
    this.texts.set(toJsonPointer(path), text)
    return text
  }

  /** Keycloak: the path of the reference to the secret of a client. */
  #isKeycloakSecret(path: DocumentPath): boolean {
    return this.#resource.kind === 'KeycloakOIDCClient' && path.join() === 'spec,client,auth,secretRef'
  }

  #resolveKeycloakSecret(reference: Json, path: DocumentPath): string {
    const text = this.#getText(reference)
    this.texts.set(toJsonPointer(path), text)
    return text
  }

  #replacePlaceholders(text: string, path: DocumentPath): string {
    const replaced = text.replaceAll(/\$\{([^{}]+)\}/g, (placeholder, name: string) => {
      const { secret } = readObject(this.#placeholders[name])
      return isObject(secret) ? this.#getText(secret) : placeholder
    })
    if (replaced !== text) this.texts.set(toJsonPointer(path), replaced)
    return replaced
  }

  #getText(reference: Json): string {
    const { name, key } = readObject(reference)
    const namespace = this.#resource.metadata.namespace!
    return getSecretText(this.#findSecretText, { namespace, name: String(name), key: String(key) })
  }
}

function createNeedlessSecret(resource: Resource): DocumentError {
  const message = 'The user has a declared password, so that none is generated. Remove it, or remove writeSecretTo.'
  return createFieldError(resource, ['spec', 'writeSecretTo'], message)
}

function createMisplacedReference(resource: Resource, path: DocumentPath): DocumentError {
  return createFieldError(resource, path, 'This field is not secret and cannot refer to a Secret. Declare its value.')
}

function createFieldError(resource: Resource, path: DocumentPath, message: string): DocumentError {
  const file = [getResourceName(resource), ...path].join('/')
  return new DocumentError([{ position: { file, line: 1, column: 1 }, message }])
}
