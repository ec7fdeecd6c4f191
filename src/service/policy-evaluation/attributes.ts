// Attributes, which policies look at: claims of a token, and circumstances of a request.
import { isList, isObject, type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { PolicyError } from './policy-error.ts'

/** Lists of values by name. */
export type Attributes = ReadonlyMap<string, readonly string[]>

/** Names of the attributes that policies read. Keycloak: the same. */
export const CLIENT_ID = 'kc.client.id'
export const DATE_TIME = 'kc.time.date_time'
const REALM_ROLES = 'kc.realm.roles'
const toClientRoles = (client: string) => `kc.client.${client}.roles`

/** Returns the claims of an access token as attributes. Keycloak: an object is its JSON, and an object in a list is empty. */
export function toClaimAttributes(claims: Representation): Map<string, readonly string[]> {
  const attributes = new Map<string, readonly string[]>()
  for (const [name, claim] of Object.entries(claims)) {
    const values = listValues(claim)
    // A claim with the name of an attribute for roles would grant roles.
    if (values.length && !name.startsWith('kc.')) attributes.set(name, values)
  }
  const { roles } = readObject(claims.realm_access)
  attributes.set(REALM_ROLES, readTexts(roles))
  for (const [client, access] of Object.entries(readObject(claims.resource_access)))
    attributes.set(toClientRoles(client), readTexts(readObject(access).roles))
  return attributes
}

function listValues(claim: Json): string[] {
  if (isList(claim)) return claim.map((element) => (isList(element) || isObject(element) ? '' : String(element)))
  if (isObject(claim)) return [JSON.stringify(claim)]
  return claim === null || claim === '' ? [] : [String(claim)]
}

/** Returns the key of a role: its name, after `client` and the client id if it is a role of a client. */
export const toRoleKey = ({ client, name }: { readonly client: string | null; readonly name: string }): string[] =>
  client === null ? [name] : ['client', client, name]

/** Whether claims contain a role: the name of a realm role, or `client`, client id and name. */
export function hasRole(claims: Attributes, role: readonly string[]): boolean {
  const client = role.length > 1 ? role[1] : undefined
  const attribute = client === undefined ? REALM_ROLES : toClientRoles(client)
  return claims.get(attribute)?.includes(role.at(-1)!) ?? false
}

/**
 * Keycloak: JsonUtils. Returns the first value of an attribute; with a path such as `address.city`, the value in its JSON. A backslash escapes a dot.
 * @throws PolicyError if the path leads into a value that is no JSON
 */
export function findClaimValue(attributes: Attributes, path: string): string | undefined {
  const steps = splitPath(path)
  if (steps.length < 2 && !path.endsWith('.')) return attributes.get(path)?.[0]
  const [name, ...rest] = steps
  const text = attributes.get(name ?? '')?.[0]
  return text === undefined ? undefined : findValue(parseJson(text, name!), rest)
}

function splitPath(path: string): string[] {
  const steps = path.match(/(?:\\.|[^\\.])+/g) ?? []
  return steps.map((step) => step.replace(/\\(.)/g, '$1'))
}

function parseJson(text: string, name: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new PolicyError(`The claim ${name} is no JSON object.`)
  }
}

/** Keycloak: a list is written as [a, b], and ends the path; so does a text. */
function findValue(json: Json, [step, ...rest]: readonly string[]): string | undefined {
  if (step === undefined) return isObject(json) ? JSON.stringify(json) : undefined
  const [, name = step, index] = /^(.*?)\[\s*(\d+)\s*\]$/.exec(step) ?? []
  const member = isObject(json) && Object.hasOwn(json, name.trim()) ? json[name.trim()] : undefined
  const value = index !== undefined && isList(member) ? member[Number(index)] : member
  if (value === undefined || value === null) return undefined
  if (isList(value)) return value.length ? `[${value.map(toText).join(', ')}]` : undefined
  return isObject(value) ? findValue(value, rest) : String(value).trim() || undefined
}

const toText = (value: Json): string => (isObject(value) || isList(value) ? JSON.stringify(value) : String(value))
