// How documents write the settings of clients that decide permissions, for editors.
import * as z from 'zod'
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { client } from '../../kinds/client.ts'
import { type Field, objectOf } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'

const text = (description: string) => z.string().nullish().describe(description)

/** The fields of a kind, but for some, and its id. */
function shapeOf({ fields, idField, title }: Kind, without: readonly string[]): z.ZodRawShape {
  const own = Object.entries(fields).filter(([name]) => !without.includes(name))
  const id = { [idField]: text(`Id of the ${title}; on creation a wish, otherwise without effect.`) }
  return { ...id, ...objectOf(Object.fromEntries<Field>(own)).shape }
}

const named = z.strictObject({ name: z.string().describe('Name.') })
const { authorizationScope, authorizationResource, authorizationPolicy } = kinds
const scope = z.strictObject(shapeOf(authorizationScope, []))
const resource = z.strictObject({
  ...shapeOf(authorizationResource, ['owner', 'scopes']),
  uri: text('Keycloak: of an earlier form; see uris.'),
  owner: z.union([z.string(), named]).nullish().describe('Whose resource it is: a person, or the client itself.'),
  scopes: z
    .array(z.union([z.string(), scope]))
    .nullish()
    .describe('What can be done with the resource; a scope that is named exists thereby.'),
})
const policy = z
  .strictObject(
    shapeOf(
      authorizationPolicy,
      policyTargets.flatMap(({ field, flagged }) => [field, ...(flagged ? [flagged.field] : [])]),
    ),
  )
  .describe('A policy or permission; what it names stands in config, as lists that are JSON texts.')

/** The settings of a client with its resources, scopes and policies. */
export const authorizationShape = z
  .strictObject({
    ...(client.fields.authorizationSettings!.schema as z.ZodObject).shape,
    resources: z.array(resource).nullish().describe('Resources of the client.'),
    scopes: z.array(scope).nullish().describe('What can be done with the resources.'),
    policies: z.array(policy).nullish().describe('Policies and permissions.'),
  })
  .describe(client.forms.authorizationSettings!)
