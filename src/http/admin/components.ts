import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { components, listSubTypes } from '../../service/admin-api/realms/components.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
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

/** The operations on components. */
export const componentOperations: Operation[] = tagged('Component', [
  ...Object.values(collection(components, { path: '/admin/realms/{realm}/components', item: '{id}', query })),
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
