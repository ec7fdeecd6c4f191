// The schema of the authorization settings of a client in documents, for editors.
import * as z from 'zod'
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { authorizationSettingsFields, client } from '../../kinds/client.ts'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'

const text = (description: string) => z.string().nullish().describe(description)

/** Returns the fields of a kind, except some, with its id. */
function createShape({ fields, idField, title }: Kind, excluded: readonly string[]): z.ZodRawShape {
  const included = Object.entries(fields).filter(([name]) => !excluded.includes(name))
  const id = { [idField]: text(`Id of the ${title}. Used only on creation.`) }
  return { ...id, ...objectSchema(Object.fromEntries(included)).shape }
}

const namedObject = z.strictObject({ name: z.string().describe('Name.') })
const { authorizationScope, authorizationResource, authorizationPolicy } = kinds
const scope = z.strictObject(createShape(authorizationScope, []))
const resource = z.strictObject({
  ...createShape(authorizationResource, ['owner', 'scopes']),
  uri: text('Keycloak: legacy field; use uris.'),
  owner: z
    .union([z.string(), namedObject])
    .nullish()
    .describe('Owner of the resource, by username. Default: the client.'),
  scopes: z
    .array(z.union([z.string(), scope]))
    .nullish()
    .describe('Scopes of the resource. A scope that does not exist is created.'),
})
const policy = z
  .strictObject(
    createShape(
      authorizationPolicy,
      policyTargets.flatMap(({ field, flagged }) => [field, ...(flagged ? [flagged.field] : [])]),
    ),
  )
  .describe('A policy or permission. What it refers to is in config, as lists in JSON texts.')

/** The schema of the settings of a client with its resources, scopes and policies. */
export const authorizationSettingsSchema = z
  .strictObject({
    ...objectSchema(authorizationSettingsFields).shape,
    resources: z.array(resource).nullish().describe('Resources of the client.'),
    scopes: z.array(scope).nullish().describe('Scopes of the client.'),
    policies: z.array(policy).nullish().describe('Policies and permissions of the client.'),
  })
  .describe(client.alternativeFields.authorizationSettings!)
