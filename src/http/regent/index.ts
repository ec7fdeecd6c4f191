// Regent's own API: plans, applies, drift and export.
import * as z from 'zod'
import { API_VERSION, version } from '../../lib/version.ts'
import { exportRealm } from '../../realm-file/export/export-realm.ts'
import { listDrift } from '../../reconcile/drift/drift.ts'
import type { RunInput } from '../../reconcile/merge/merge-sources.ts'
import { type DeclaredSource, deserializeSource } from '../../reconcile/read/source-text.ts'
import { explainPermissions } from '../../reconcile/run/explain-permissions.ts'
import { applyRun, planRun } from '../../reconcile/run/run.ts'
import { planAndSave } from '../../reconcile/run/saved-plans.ts'
import { readHandler } from '../handlers.ts'
import type { Call, Operation } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { drift, outcome, permissionExplanation, sourceBody } from './schemas.ts'

const answers = { ...errorResponses, ...badRequest }

const strict = z
  .stringbool()
  .optional()
  .describe('Whether declared values that are not enforced are errors. Default: false.')

/** Returns the run of a call whose body is a source. */
export function toRunInput({ service, caller, body, query }: Call): RunInput {
  return { service, caller, sources: [deserializeSource(body as DeclaredSource)], strict: query.strict === true }
}

/** The operations under /regent/v1. */
export const regentOperations: readonly Operation[] = [
  {
    operationId: 'planSource',
    tag: 'Plans',
    method: 'POST',
    path: '/regent/v1/plan',
    summary: 'Plan the documents of a source: get the changes that an apply would make',
    description: 'To save the plan, the caller must administer the realms.',
    permission: 'plan-changes',
    query: z.object({
      strict,
      save: z
        .stringbool()
        .optional()
        .describe('Whether to save the plan, so that it can be applied by its id. Default: false.'),
    }),
    body: sourceBody,
    reportsProgress: true,
    responses: { 200: { description: 'The plan of each realm, with its consequences.', schema: outcome }, ...answers },
    handle: async (call) => {
      const input = toRunInput(call)
      const plan = call.query.save ? planAndSave(input) : planRun({ ...input, permission: 'plan-changes' })
      return { status: 200, body: await plan }
    },
  },
  {
    operationId: 'applySource',
    tag: 'Plans',
    method: 'POST',
    path: '/regent/v1/apply',
    summary: 'Apply the documents of a source: each realm in one transaction',
    permission: 'administer-realm',
    query: z.object({ strict }),
    body: sourceBody,
    reportsProgress: true,
    responses: { 200: { description: 'The outcome of each realm.', schema: outcome }, ...answers },
    handle: async (call) => ({ status: 200, body: await applyRun(toRunInput(call)) }),
  },
  {
    operationId: 'explainPermissions',
    tag: 'Plans',
    method: 'POST',
    path: '/regent/v1/explain',
    summary: 'Explain whether a source may declare the objects of its documents',
    permission: 'plan-changes',
    body: sourceBody,
    responses: {
      200: { description: 'The permission for each object.', schema: z.array(permissionExplanation) },
      ...answers,
    },
    handle: async (call) => ({
      status: 200,
      body: await explainPermissions({ ...toRunInput(call), permission: 'plan-changes' }),
    }),
  },
  {
    operationId: 'findDrift',
    tag: 'Drift',
    method: 'GET',
    path: '/regent/v1/drift',
    summary: 'List drift: managed fields and objects that were changed, and by whom',
    permission: 'accept-drift',
    query: z.object({ realm: z.string().optional().describe('Only this realm.') }),
    responses: {
      200: { description: 'Each field or object that differs.', schema: z.array(drift) },
      ...errorResponses,
    },
    handle: async ({ service, caller, query }) => ({
      status: 200,
      body: await listDrift(service, caller, query.realm as string | undefined),
    }),
  },
  {
    operationId: 'exportRealm',
    tag: 'Export and Backup',
    method: 'GET',
    path: '/regent/v1/export/{realm}',
    summary: 'Export a realm as one document; secrets are masked by default',
    permission: 'administer-realm',
    query: z.object({
      secrets: z
        .stringbool()
        .optional()
        .describe(
          'Whether to export secrets in plain text. Default: false, which masks them, and omits values that are encrypted in files.',
        ),
      ids: z.stringbool().optional().describe('Whether to export ids. Default: false.'),
      full: z.stringbool().optional().describe('Whether to export values that equal the defaults. Default: false.'),
    }),
    responses: {
      200: { description: 'The realm.', schema: z.record(z.string(), z.json()).describe('A realm file.') },
      ...errorResponses,
    },
    handle: readHandler((context, call) => exportRealm(context, call.query)),
  },
  {
    operationId: 'getVersion',
    tag: 'Export and Backup',
    method: 'GET',
    path: '/regent/v1/version',
    summary: 'Get the version of the server',
    permission: 'any',
    responses: {
      200: {
        description: 'The version.',
        schema: z.object({
          version: z.string().describe('Version of Regent.'),
          keycloakApi: z.string().describe("Version of Keycloak's admin API that it implements."),
        }),
      },
      ...errorResponses,
    },
    handle: async () => ({ status: 200, body: { version, keycloakApi: API_VERSION } }),
  },
]
