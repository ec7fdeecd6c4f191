// The texts of the Secret that a resource names in `writeSecretTo`, with variables such as `$(clientId)`. Pure.
import { type Representation, readObject, readText, readTextMap } from '../../kinds/json.ts'

/** The Secret that a resource names. */
export interface SecretTarget {
  readonly name: string
  /** The texts by key, with variables. */
  readonly templates: Readonly<Record<string, string>>
}

/** The values of variables by name. */
export type SecretValues = Readonly<Record<string, string | undefined>>

/** The key and the variable of the secret itself, by kind of the resource. */
export const secretKeys = {
  RealmClient: { key: 'client-secret', variable: 'clientSecret' },
  RealmUser: { key: 'password', variable: 'password' },
} as const

/** A kind of resources with `writeSecretTo`. */
export type WritingKind = keyof typeof secretKeys

/** Whether resources of the kind can have `writeSecretTo`. */
export const isWritingKind = (kind: string): kind is WritingKind => Object.hasOwn(secretKeys, kind)

/** A variable, or the escape `$$(` for the text `$(`. */
const VARIABLE = /\$\$\(|\$\(([A-Za-z]+)\)/g

/** Returns the key of the password in the Secret of a RealmUser. */
export function getPasswordKey({ writeSecretTo }: Representation): string {
  return readText(readObject(writeSecretTo).key) ?? secretKeys.RealmUser.key
}

/** Returns the Secret that a spec names in `writeSecretTo`; undefined if it names none. */
export function readSecretTarget(kind: WritingKind, { writeSecretTo }: Representation): SecretTarget | undefined {
  const { name, key: declaredKey, template } = readObject(writeSecretTo)
  if (typeof name !== 'string') return undefined
  const { key, variable } = secretKeys[kind]
  const isImplied = template === undefined || kind === 'RealmUser'
  const secretKey = readText(declaredKey) ?? (isImplied ? key : undefined)
  return {
    name,
    templates: { ...readTextMap(template), ...(secretKey !== undefined && { [secretKey]: `$(${variable})` }) },
  }
}

/** Returns the names of the variables in the templates of a Secret. */
export function listVariables({ templates }: SecretTarget): Set<string> {
  const matches = Object.values(templates).flatMap((template) => [...template.matchAll(VARIABLE)])
  return new Set(matches.flatMap(([, name]) => name ?? []))
}

/** Returns the texts of a Secret by key. Variables without a value stay. */
export function renderTemplates({ templates }: SecretTarget, values: SecretValues): Record<string, string> {
  const render = (template: string) =>
    template.replaceAll(VARIABLE, (variable, name: string | undefined) =>
      name === undefined ? '$(' : (values[name] ?? variable),
    )
  return Object.fromEntries(Object.entries(templates).map(([key, template]) => [key, render(template)]))
}
