import * as z from 'zod'
import { JAVA_KEYSTORE } from '../../kinds/component-types.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import { components, listSubTypes } from '../../service/admin-api/realms/components.ts'
import { requireReadableKey } from '../../service/realms/key-store-keys.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { propertySchema, toProperty } from '../property.ts'
import { errorResponses } from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const query = z.object({
  name: z.string().optional().describe('Only components with this name.'),
  parent: z.string().optional().describe('Only components of this parent: the id of a component, or of the realm.'),
  type: z
    .string()
    .optional()
    .describe('Only components of this provider type, by its Java name. Without `parent`: those of the realm itself.'),
})

/** The schema of a provider of components. */
export const componentTypeSchema = nameSchema(
  'ComponentTypeRepresentation',
  z.object({
    id: z.string().describe('Id of the provider.'),
    helpText: z.string().describe('Help text.'),
    properties: z.array(propertySchema).describe('Settings of the component.'),
    clientProperties: z.array(propertySchema).optional().describe('Keycloak: settings of clients. Always absent.'),
    metadata: z.record(z.string(), z.json()).describe('Capabilities of the provider, such as synchronization.'),
  }),
)

const collectionOperations = collection(components, {
  path: '/admin/realms/{realm}/components',
  item: '{id}',
  query,
})

/** The operations on components. */
export const componentOperations: Operation[] = tagged('Component', [
  ...Object.values({
    ...collectionOperations,
    create: withReadableKey(collectionOperations.create),
    replace: withReadableKey(collectionOperations.replace),
  }),
  {
    operationId: 'listSubComponentTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/components/{id}/sub-component-types',
    summary: 'List the sub-component types of a component',
    permission: 'view-realm',
    query: z.object({
      type: z
        .string()
        .optional()
        .describe('Type of the providers, by its Java name. Default: all that the component can have.'),
    }),
    responses: { 200: { description: 'The providers.', schema: z.array(componentTypeSchema) }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const types = await listSubTypes(context, getParameter(call, 'id'), call.query.type as string | undefined)
      return types.map(({ id, helpText = '', properties, metadata = {} }) => {
        return { id, helpText, properties: properties.map(toProperty), metadata }
      })
    }),
  },
])

const keyStoreComponent = z.looseObject({
  providerId: z.literal(JAVA_KEYSTORE),
  config: z.record(z.string(), z.array(z.string())),
})

/** Returns the operation, which first reads the key store that its body refers to: that takes too long for a transaction. */
function withReadableKey(operation: UntaggedOperation): UntaggedOperation {
  return {
    ...operation,
    async handle(call) {
      const { data: component } = keyStoreComponent.safeParse(call.body)
      if (component) {
        const realm = getParameter(call, 'realm')
        await call.service.read(call.caller, realm, (context) => components.checkAccess!(context, {}))
        await requireReadableKey(call.service, realm, component.config)
      }
      return operation.handle(call)
    },
  }
}
