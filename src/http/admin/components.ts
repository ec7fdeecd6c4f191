import * as z from 'zod'
import { components, listSubTypes } from '../../service/admin-api/realms/components.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { propertySchema, toProperty } from '../property.ts'
import { errorResponses } from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const query = z.object({
  name: z.string().optional().describe('Name of the components.'),
  parent: z.string().optional().describe('Id of what they belong to: another component, or the realm.'),
  type: z.string().optional().describe('Type of their provider; without a parent those of the realm itself.'),
})

const type = z.object({
  id: z.string().describe('The provider.'),
  helpText: z.string().describe('What it does.'),
  properties: z.array(propertySchema).describe('Its settings.'),
  metadata: z.record(z.string(), z.json()).describe('What can be done with it.'),
})

/** Components. */
export const componentOperations: Operation[] = tagged('Component', [
  ...Object.values(collection(components, { path: '/admin/realms/{realm}/components', item: '{id}', query })),
  {
    operationId: 'listSubComponentTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/components/{id}/sub-component-types',
    summary: 'List the sub-component types of a component',
    permission: 'view-realm',
    query: z.object({ type: z.string().optional().describe('Type of the providers.') }),
    responses: { 200: { description: 'The providers.', schema: z.array(type) }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const types = await listSubTypes(context, getParameter(call, 'id'), call.query.type as string | undefined)
      return types.map(({ id, helpText = '', properties, metadata = {} }) => {
        return { id, helpText, properties: properties.map(toProperty), metadata }
      })
    }),
  },
])
