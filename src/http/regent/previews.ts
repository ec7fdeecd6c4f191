// Regent's own API: previews of plans, as throw-away realms.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { createPreviews } from '../../reconcile/import/previews.ts'
import { deletePreview, listPreviews } from '../../service/admin-api/realms/previews.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { toRunInput } from './index.ts'
import { realmOutcome, sourceBody } from './schemas.ts'

const HOUR = 3600

const preview = z.object({
  realm: z.string().describe('Name of the preview.'),
  of: z.string().describe('Name of the realm that it shows.'),
  until: z.iso.datetime().describe('Time of its deletion, in ISO 8601.'),
})

const createdPreview = nameSchema(
  'CreatedPreviewRepresentation',
  preview
    .extend({
      issuer: z.url().describe('Issuer of its tokens, for the settings of an application.'),
      outcome: realmOutcome,
    })
    .describe('A preview with the plan that it shows.'),
)

/** The operations on previews. */
export const previewOperations: readonly Operation[] = tagged('Plans', [
  {
    operationId: 'createPreviews',
    method: 'POST',
    path: '/regent/v1/previews',
    summary: 'Create a preview of each realm that the documents of a source change',
    description:
      'A preview is a realm in the state that the plan leads to, without users, secrets, and connections to other systems. The caller must be permitted to create realms.',
    permission: 'plan-changes',
    query: z.object({
      label: z
        .string()
        .regex(/^[\w.-]{1,40}$/, 'must consist of at most 40 letters, digits, ".", "_" and "-"')
        .optional()
        .describe('Last part of the names of the previews. An earlier preview with it is replaced. Default: random.'),
      hours: z.coerce
        .number()
        .min(0)
        .max(720)
        .default(24)
        .describe('Hours until the previews are deleted, at most 720. Default: 24.'),
    }),
    body: sourceBody,
    responses: {
      201: { description: 'The previews with their plans.', schema: z.array(createdPreview) },
      ...errorResponses,
      ...badRequest,
    },
    handle: async (call) => {
      const { label, hours } = call.query
      const previews = await createPreviews(toRunInput(call), {
        label: typeof label === 'string' ? label : undefined,
        seconds: Math.max(1, Math.round(Number(hours) * HOUR)),
      })
      const body = previews.map((created) => ({ ...created, issuer: `${call.base}/realms/${created.realm}` }))
      return { status: 201, body }
    },
  },
  {
    operationId: 'listPreviews',
    method: 'GET',
    path: '/regent/v1/previews',
    summary: 'List the previews that the caller may see',
    permission: 'any',
    responses: {
      200: {
        description: 'The previews.',
        schema: z.array(nameSchema('PreviewRepresentation', preview.describe('A preview.'))),
      },
      ...errorResponses,
    },
    handle: async ({ service, caller }) => ({ status: 200, body: await listPreviews(service, caller) }),
  },
  {
    operationId: 'deletePreview',
    method: 'DELETE',
    path: '/regent/v1/previews/{realm}',
    summary: 'Delete a preview',
    permission: 'manage-realm',
    event: 'REALM',
    responses: { ...noContentResponse, ...errorResponses },
    handle: async (call) => {
      await deletePreview(call.service, call.caller, getParameter(call, 'realm'))
      return { status: 204 }
    },
  },
])
