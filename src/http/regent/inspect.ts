// Regent's own API: the state of realms, and their objects with the sources that manage them.
import * as z from 'zod'
import { isKindName, kinds } from '../../kinds/index.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { inspectObject } from '../../reconcile/inspect/inspect-object.ts'
import { listRealmStates, realmStates } from '../../reconcile/inspect/realm-states.ts'
import { failure } from '../../service/context/errors.ts'
import { countViewableObjects, listViewableObjects } from '../../service/objects/object-list.ts'
import { HttpError } from '../errors.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { queryTexts } from '../query.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { asYaml } from '../yaml.ts'
import { attribution, key, reasons } from './schemas.ts'

const answers = { ...errorResponses, ...badRequest }
const kind = z.string().describe('Kind of the object.')
const sources = z.array(z.string()).describe('Names of the sources.')

const realmState = nameSchema(
  'RealmStateRepresentation',
  z
    .object({
      realm: z.string().describe('Name of the realm.'),
      enabled: z.boolean().describe('Whether the realm is enabled.'),
      permissions: z.array(z.string()).describe('Permissions of the caller in the realm.'),
      state: z
        .enum(realmStates)
        .optional()
        .describe(
          'State of the realm: the last revision of a source failed, a plan is pending approval, values drifted, a source is suspended, all sources are in sync, or no source declares it. Absent without permission.',
        ),
      sources: sources.optional(),
      drift: z.int().optional().describe('Number of drifted fields and objects. Absent without permission.'),
      pendingPlans: z.int().optional().describe('Number of plans pending approval. Absent without permission.'),
      lastChange: z
        .object({ revision: z.number().describe('Number of the revision.'), by: attribution })
        .optional()
        .describe('Last change of the configuration. Absent without permission.'),
    })
    .describe('A realm with its state.'),
)

const kindCount = nameSchema(
  'KindCountRepresentation',
  z
    .object({
      kind,
      title: z.string().describe('Name of the kind in messages.'),
      parents: z.array(z.string()).describe('Kinds whose objects contain objects of this kind.'),
      count: z.int().describe('Number of objects.'),
      managed: z.int().describe('Number of objects that a source manages.'),
    })
    .describe('The number of objects of a kind.'),
)

const listedObject = nameSchema(
  'ListedObjectRepresentation',
  z.object({ id: z.string().describe('Id of the object.'), key, sources }).describe('An object in a list.'),
)

const objectChange = z.object({
  path: z.string().describe('Field; for a map, `field.key`.'),
  from: z.json().optional().describe('Previous value; absent for secrets and encrypted values.'),
  to: z.json().optional().describe('Value after the change; absent for secrets and encrypted values.'),
  encrypted: z.literal(true).optional().describe('Whether the value is encrypted in its file.'),
})

const inspectedObject = nameSchema(
  'InspectedObjectRepresentation',
  z
    .object({
      kind,
      key,
      id: z.string().describe('Id of the object.'),
      path: z.string().describe('Path of the object, as in a realm file; empty for the realm.'),
      url: z.string().optional().describe('Path of the object in the admin API. Absent if it has none of its own.'),
      yaml: z
        .string()
        .describe(
          'A realm file that declares the object, in YAML. Secrets are masked, and values omitted that are encrypted in files.',
        ),
      provenance: reasons.optional(),
      history: z
        .array(
          z.object({
            revision: z.number().describe('Number of the revision.'),
            operation: z.enum(['create', 'update', 'delete']).describe('Operation on the object.'),
            by: attribution,
            changes: z.array(objectChange).describe('Changed fields of an update.'),
          }),
        )
        .optional()
        .describe('Last changes, newest first. Absent without permission.'),
    })
    .describe('An object of a realm.'),
)

/** Paths of objects in the admin API, below the realm, by kind. */
const adminPaths: Readonly<Partial<Record<KindName, (id: string, name: string) => string>>> = {
  realm: () => '',
  client: (id) => `/clients/${id}`,
  clientScope: (id) => `/client-scopes/${id}`,
  role: (id) => `/roles-by-id/${id}`,
  group: (id) => `/groups/${id}`,
  user: (id) => `/users/${id}`,
  component: (id) => `/components/${id}`,
  organization: (id) => `/organizations/${id}`,
  workflow: (id) => `/workflows/${id}`,
  authenticationFlow: (id) => `/authentication/flows/${id}`,
  authenticatorConfig: (id) => `/authentication/config/${id}`,
  requiredAction: (_id, name) => `/authentication/required-actions/${encodeURIComponent(name)}`,
  identityProvider: (_id, name) => `/identity-provider/instances/${encodeURIComponent(name)}`,
}

/** Returns the kind of that name. @throws not_found */
function requireKind(name: string): KindName {
  if (isKindName(name)) return name
  throw failure('not_found', `There is no kind ${name}.`)
}

function toAdminPath(realm: string, name: KindName, { id, key }: { readonly id: string; readonly key: Key }) {
  const path = adminPaths[name]?.(id, key.at(-1)!)
  return path === undefined ? {} : { url: `/admin/realms/${encodeURIComponent(realm)}${path}` }
}

const page = {
  search: z.string().optional().describe('Part of the name, ignoring case.'),
  first: z.coerce.number().int().min(0).default(0).describe('Number of elements to skip. Default: 0.'),
  max: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .default(100)
    .describe('Maximum number of elements to return, at most 500. Default: 100.'),
}
const realmPage = z.object(page)
const objectPage = z.object({
  ...page,
  managed: z
    .stringbool()
    .optional()
    .describe('Only objects that a source manages (true), or that none manages (false). Default: all.'),
})
/** The page after its parameters were parsed. */
const parsedPage = z.object({
  search: z.string().default(''),
  first: z.number(),
  max: z.number(),
  managed: z.boolean().optional(),
})

/** The operations that show realms and their objects. */
export const regentInspectOperations: readonly Operation[] = tagged('Inspection', [
  {
    operationId: 'listRealmStates',
    method: 'GET',
    path: '/regent/v1/realms',
    summary: "List realms with their state, last change and the caller's permissions",
    permission: 'any',
    query: realmPage,
    responses: { 200: { description: 'The realms, by name.', schema: z.array(realmState) }, ...errorResponses },
    handle: async ({ service, caller, query }) => ({
      status: 200,
      body: await listRealmStates(service, caller, parsedPage.parse(query)),
    }),
  },
  {
    operationId: 'countRealmObjects',
    method: 'GET',
    path: '/regent/v1/objects/{realm}',
    summary: 'Count the objects of a realm by kind, and those that sources manage',
    description: 'The kinds are those that the caller may view.',
    permission: 'see-realm',
    responses: { 200: { description: 'The numbers by kind.', schema: z.array(kindCount) }, ...answers },
    handle: readHandler(async (context) =>
      (await countViewableObjects(context)).map((counted) => {
        const { title, parents } = kinds[counted.kind]
        return { ...counted, title, parents }
      }),
    ),
  },
  {
    operationId: 'listRealmObjects',
    method: 'GET',
    path: '/regent/v1/objects/{realm}/{kind}',
    summary: 'List objects of a kind with the sources that manage them',
    description: 'The permission is that to view objects of the kind.',
    permission: 'see-realm',
    query: objectPage,
    responses: { 200: { description: 'The objects, by name.', schema: z.array(listedObject) }, ...answers },
    handle: readHandler((context, call) =>
      listViewableObjects(context, requireKind(getParameter(call, 'kind')), parsedPage.parse(call.query)),
    ),
  },
  {
    operationId: 'inspectObject',
    method: 'GET',
    path: '/regent/v1/object/{realm}',
    summary: 'Get an object as it would be declared, with the provenance of its values and its changes',
    description: 'The permission is that to view objects of the kind.',
    permission: 'see-realm',
    query: z.object({
      kind: z.string().optional().describe('Kind of the object; required.'),
      key: queryTexts.describe('Natural key of the object, from the realm down; repeatable, required.'),
    }),
    responses: { 200: { description: 'The object.', schema: inspectedObject }, ...answers },
    handle: readHandler(async (context, call) => {
      const { kind: name, key: names } = call.query
      if (typeof name !== 'string' || !Array.isArray(names))
        throw new HttpError(400, { errorMessage: 'The parameters kind and key are missing. Pass those of an object.' })
      const { document, ...object } = await inspectObject(context, requireKind(name), names)
      return { ...object, ...toAdminPath(context.realm.name, object.kind, object), yaml: asYaml(document) }
    }),
  },
])
