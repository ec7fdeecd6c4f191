// What the operations on clients that decide permissions take and answer. Policies have fields by their type.
import * as z from 'zod'
import { policyTargets } from '../../kinds/authorization-policy.ts'
import { policySettings } from '../../kinds/authorization-policy-types.ts'
import { client } from '../../kinds/client.ts'
import { type Field, objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Kind } from '../../kinds/kind.ts'
import { type BodyForm, bodySchema } from '../body.ts'
import type { Response } from '../operation.ts'
import { errorSchema } from '../responses.ts'

const text = (description: string) => z.string().nullish().describe(description)

const policyFields = kinds.authorizationPolicy.fields
const settings = Object.fromEntries(
  policySettings.map(({ field, configKey: setting, isFlag: flag }) => [
    field,
    z
      .union([z.string(), z.number(), z.boolean()])
      .nullish()
      .describe(flag ? `The setting ${setting}: true or false.` : `The setting ${setting}.`),
  ]),
)
const names = Object.fromEntries(
  policyTargets.map(({ field, flagged }) => [
    field,
    z
      .array(flagged ? z.union([z.string(), z.looseObject({})]) : z.string())
      .nullish()
      .describe(
        `${policyFields[field]!.description} On the wire by id${flagged ? `, each with ${flagged.flag}` : ''}.`,
      ),
  ]),
)

const pickFields = (kind: Kind, fields: readonly string[]) =>
  objectSchema(Object.fromEntries(fields.map((name): [string, Field] => [name, kind.fields[name]!]))).shape

/** Keycloak: PolicyRepresentation, and those of the types. */
const policy = z.strictObject({
  id: text('Id of the policy; on creation a wish, otherwise without effect.'),
  ...pickFields(kinds.authorizationPolicy, ['name', 'description', 'type', 'logic', 'decisionStrategy', 'config']),
  ...settings,
  ...names,
  owner: text('Keycloak: the user who created the policy, with user-managed access.'),
  resourcesData: z.array(z.json()).nullish().describe('Keycloak: the resources in full; without effect.'),
  scopesData: z.array(z.json()).nullish().describe('Keycloak: the scopes in full; without effect.'),
})

const scope = bodySchema(kinds.authorizationScope)
const owner = z.looseObject({ id: text('Id of the owner.'), name: text('Name of the owner.') })
const scopes = z
  .array(z.union([z.string(), scope]))
  .nullish()
  .describe('What can be done with the resource: scopes by name; those that are not there are made.')

const resource = z.strictObject({
  _id: text('Id of the resource; on creation a wish, otherwise without effect.'),
  ...pickFields(kinds.authorizationResource, ['name', 'displayName', 'type', 'uris', 'icon_uri', 'ownerManagedAccess']),
  uri: text('Keycloak: of an earlier form; see uris.'),
  owner: z.union([z.string(), owner]).nullish().describe('Owner of the resource: a user, or the client itself.'),
  scopes,
  scopesUma: scopes,
  // Keycloak: what is no object is as absent.
  attributes: z
    .union([kinds.authorizationResource.fields.attributes!.schema, z.json().transform(() => undefined)])
    .nullish()
    .describe('Lists of texts by name.'),
})

const server = z.strictObject({
  id: text('Id of the client.'),
  clientId: text('Id of the client, again.'),
  name: text('Name of the client.'),
  ...(client.fields.authorizationSettings!.schema as z.ZodObject).shape,
  resources: z.array(z.json()).nullish().describe('Resources of the client.'),
  policies: z.array(z.json()).nullish().describe('Policies of the client.'),
  scopes: z.array(z.json()).nullish().describe('Scopes of the client.'),
  authorizationSchema: z.json().nullish().describe('Keycloak: what administrators can be allowed to; without effect.'),
})

/** The query of a search. */
export const byName = z.object({ name: z.string().optional().describe('Name of what is looked for.') })

/** Bodies. */
export const bodies = {
  server: {
    schema: server,
    description: 'the settings, as they shall be',
    representation: 'ResourceServerRepresentation',
  },
  resource: { schema: resource, description: 'the resource, as it shall be', representation: 'ResourceRepresentation' },
  policy: { schema: policy, description: 'the policy, as it shall be', representation: 'PolicyRepresentation' },
} satisfies Record<string, BodyForm>

const provider = z.object({
  type: z.string().describe('Name of the type.'),
  name: z.string().describe('Display name of the type.'),
  group: z.string().describe('What sort of type it is.'),
})

/** The responses with one object or all of a kind. */
export const answers = {
  server: { description: 'The settings.', schema: server },
  resource: { description: 'The resource.', schema: resource },
  resources: { description: 'The resources.', schema: z.array(resource) },
  scopes: { description: 'The scopes.', schema: z.array(scope) },
  policy: { description: 'The policy.', schema: policy },
  policies: { description: 'The policies.', schema: z.array(policy) },
  providers: { description: 'The types of policies.', schema: z.array(provider) },
  attributes: { description: 'Lists of texts by name.', schema: z.record(z.string(), z.array(z.string())) },
  absent: { description: 'There is no such one.' },
  replaced: { description: 'Replaced.' },
} satisfies Record<string, Response>

/** Refusals that may say nothing but their status. */
export const silently = {
  unnamed: { 400: { description: 'There is no name to look for.', schema: errorSchema.optional() } },
  missing: { 404: { description: 'What is named in the address does not exist.', schema: errorSchema.optional() } },
} satisfies Record<string, Record<number, Response>>
