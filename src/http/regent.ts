// Regent's own API: plans, applies, drift and export.
import * as z from 'zod'
import { exportRealm } from '../realm-file/render.ts'
import { findDrift } from '../reconcile/drift.ts'
import { applySources, planSources } from '../reconcile/run.ts'
import { savePlan } from '../reconcile/saved.ts'
import { type SourceText, unpackSource } from '../reconcile/sources/text.ts'
import { type Operation, reading } from './operation.ts'
import { drift, outcome, sourceBody } from './regent-schemas.ts'
import { badRequest, refusals } from './responses.ts'

const answers = { ...refusals, ...badRequest }

/** The operations under /regent/v1. */
export const regentOperations: readonly Operation[] = [
  {
    operationId: 'planSource',
    tag: 'Regent',
    method: 'POST',
    path: '/regent/v1/plan',
    summary: 'Shows what applying a source would change. Each plan is executed once and rolled back.',
    permission: 'administer-realm',
    query: z.object({
      save: z.stringbool().optional().describe('The plan is saved, to be applied by its id.'),
    }),
    body: sourceBody,
    responses: { 200: { description: 'The plan of each realm, with its consequences.', schema: outcome }, ...answers },
    handle: async ({ service, caller, body, query }) => {
      const plan = query.save ? savePlan : planSources
      return { status: 200, body: await plan(service, caller, [unpackSource(body as SourceText)]) }
    },
  },
  {
    operationId: 'applySource',
    tag: 'Regent',
    method: 'POST',
    path: '/regent/v1/apply',
    summary: 'Applies a source: each realm in one transaction, all or nothing.',
    permission: 'administer-realm',
    body: sourceBody,
    responses: { 200: { description: 'What was done in each realm.', schema: outcome }, ...answers },
    handle: async ({ service, caller, body }) => ({
      status: 200,
      body: await applySources(service, caller, [unpackSource(body as SourceText)]),
    }),
  },
  {
    operationId: 'findDrift',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/drift',
    summary: 'Lists what is not as a source last applied it, with who changed it.',
    permission: 'administer-realm',
    query: z.object({ realm: z.string().optional().describe('Only this realm.') }),
    responses: { 200: { description: 'Each field or object that differs.', schema: z.array(drift) }, ...refusals },
    handle: async ({ service, caller, query }) => ({
      status: 200,
      body: await findDrift(service, caller, query.realm as string | undefined),
    }),
  },
  {
    operationId: 'exportRealm',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/export/{realm}',
    summary:
      'Gives a realm as one document in the form of a realm export. Secrets are masked unless they are asked for.',
    permission: 'administer-realm',
    query: z.object({
      secrets: z.stringbool().optional().describe('Secrets in the clear.'),
      ids: z.stringbool().optional().describe('With the ids of all objects.'),
      full: z.stringbool().optional().describe('With everything that creation would give, too.'),
    }),
    responses: {
      200: { description: 'The realm.', schema: z.record(z.string(), z.json()).describe('A realm file.') },
      ...refusals,
    },
    handle: reading((context, call) => exportRealm(context, call.query)),
  },
]
