// Regent's own API: saved plans, and their approval.
import * as z from 'zod'
import { toAttribution } from '../../reconcile/model/attribution.ts'
import { applySavedPlan, approveSavedPlan } from '../../reconcile/run/saved-plans.ts'
import type { SavedPlan } from '../../service/context/store-types.ts'
import { getPlanState, getSavedPlan, listSavedPlans, rejectSavedPlan } from '../../service/sources/saved-plans.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { applyBody, approvalAnswer, approvalBody, savedPlan, staleAnswer, wholePlan } from './plan-schemas.ts'
import { outcome } from './schemas.ts'

const answers = { ...errorResponses, ...badRequest }
/** In each realm of the plan. */
const permission = 'approve-plans'
const stale = {
  409: { description: 'The plan is stale, expired, already applied, or pending approval.', schema: staleAnswer },
}

/** The operations about saved plans under /regent/v1. */
export const regentPlanOperations: readonly Operation[] = tagged('Plans', [
  {
    operationId: 'listPlans',
    method: 'GET',
    path: '/regent/v1/plans',
    summary: 'List the saved plans that the caller may approve, newest first',
    permission: 'any',
    responses: { 200: { description: 'The plans.', schema: z.array(savedPlan) }, ...errorResponses },
    handle: async ({ service, caller }) => {
      const now = service.clock()
      return { status: 200, body: (await listSavedPlans(service, caller)).map((plan) => toRepresentation(plan, now)) }
    },
  },
  {
    operationId: 'getPlan',
    method: 'GET',
    path: '/regent/v1/plans/{plan}',
    summary: 'Get a saved plan',
    permission,
    responses: { 200: { description: 'The plan and its changes.', schema: wholePlan }, ...errorResponses },
    handle: async (call) => {
      const plan = await getSavedPlan(call.service, call.caller, getParameter(call, 'plan'))
      return { status: 200, body: { ...toRepresentation(plan, call.service.clock()), outcome: plan.outcome } }
    },
  },
  {
    operationId: 'applyPlan',
    method: 'POST',
    path: '/regent/v1/plans/{plan}/apply',
    summary: 'Apply a saved plan exactly, or nothing if it is stale',
    permission: 'administer-realm',
    body: applyBody,
    reportsProgress: true,
    responses: { 200: { description: 'The outcome of each realm.', schema: outcome }, ...answers, ...stale },
    handle: async (call) => {
      const { digest } = (call.body ?? {}) as { digest?: string }
      return {
        status: 200,
        body: await applySavedPlan(call.service, call.caller, { id: getParameter(call, 'plan'), digest }),
      }
    },
  },
  {
    operationId: 'approvePlan',
    method: 'POST',
    path: '/regent/v1/plans/{plan}/approve',
    summary: 'Approve a plan that is pending approval; the plan of an apply is applied at once',
    permission,
    body: approvalBody,
    reportsProgress: true,
    responses: {
      200: { description: 'The plan and its outcome.', schema: approvalAnswer },
      ...answers,
      409: { description: 'The plan is already applied, or has expired.', schema: staleAnswer },
    },
    handle: async (call) => {
      const { service, caller } = call
      const approval = await approveSavedPlan(service, caller, {
        id: getParameter(call, 'plan'),
        ...((call.body ?? {}) as object),
      })
      const plan = await getSavedPlan(service, caller, approval.plan.id).catch(() => approval.plan)
      return { status: 200, body: { plan: toRepresentation(plan, service.clock()), outcome: approval.outcome } }
    },
  },
  {
    operationId: 'rejectPlan',
    method: 'DELETE',
    path: '/regent/v1/plans/{plan}',
    summary: 'Reject (delete) a saved plan',
    permission,
    responses: {
      ...noContentResponse,
      ...answers,
      409: { description: 'The plan is already applied, or has expired.', schema: staleAnswer },
    },
    handle: async (call) => {
      await rejectSavedPlan(call.service, call.caller, getParameter(call, 'plan'))
      return { status: 204 }
    },
  },
])

function toRepresentation(plan: SavedPlan, now: Date): object {
  const {
    id,
    digest,
    sources,
    realms,
    isFromRun,
    createdAt,
    createdBy,
    authors,
    expires,
    approvedAt,
    approvedBy,
    withCredentials,
    isOutdated,
  } = plan
  return {
    id,
    state: getPlanState(plan, now),
    digest,
    sources,
    realms: realms.map(({ name, hasChanges, guards, appliedAt, revision }) => ({
      realm: name,
      hasChanges,
      guards,
      ...(appliedAt !== null && { appliedAt: new Date(appliedAt), revision }),
    })),
    appliesOnApproval: isFromRun,
    created: toAttribution({ actor: createdBy, at: createdAt }),
    expires,
    outdated: isOutdated,
    ...(authors && { authors: authors.flatMap(({ names }) => names[0] ?? []) }),
    ...(approvedAt && { approvedAt, approvedBy }),
    withCredentials,
  }
}
