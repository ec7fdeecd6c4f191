import * as z from 'zod'
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { USER_EVENT_TYPES } from '../../kinds/user-events.ts'
import {
  clearAdminEvents,
  clearUserEvents,
  getEventsConfig,
  listAdminEvents,
  listUserEvents,
  replaceEventsConfig,
} from '../../service/admin-api/realms/events.ts'
import type { BodyForm } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { page, queryTexts } from '../query.ts'
import { badRequest, components, errorResponses, noContentResponse } from '../responses.ts'

const adminEvent = z
  .object({
    id: z.string().describe('Id of the event.'),
    time: z.number().describe('When it was, in milliseconds since 1970.'),
    realmId: z.string().describe('Id of the realm.'),
    authDetails: z
      .object({
        realmId: z.string().optional().describe('Id of the realm of the user.'),
        clientId: z.string().optional().describe('Id of the client through which it was done.'),
        userId: z.string().optional().describe('Id of the user.'),
        ipAddress: z.string().optional().describe('Network address from which it was done.'),
      })
      .describe('Who did it; empty when it was a source that the server itself reads.'),
    operationType: z.enum(EVENT_OPERATIONS).describe('What was done.'),
    resourceType: z.enum(EVENT_TYPES).describe('What it was done to.'),
    resourcePath: z.string().optional().describe('Its address below the realm; absent: the realm itself.'),
    representation: z
      .string()
      .optional()
      .describe('What was sent, as JSON, with secrets masked; if the realm keeps it.'),
    error: z.string().optional().describe('Keycloak: absent, since what is refused leaves no event.'),
    details: z
      .record(z.string(), z.string())
      .optional()
      .describe('More about it, such as the source that was applied.'),
  })
  .register(components, { id: 'AdminEventRepresentation' })

const userEvent = z
  .object({
    id: z.string().describe('Id of the event.'),
    time: z.number().describe('When it was, in milliseconds since 1970.'),
    type: z.enum(USER_EVENT_TYPES).describe('What happened; _ERROR: what was tried and failed.'),
    realmId: z.string().describe('Id of the realm.'),
    clientId: z.string().optional().describe('The client through which it happened, as it called itself.'),
    userId: z.string().optional().describe('Id of the user.'),
    sessionId: z.string().optional().describe('Id of the session.'),
    ipAddress: z.string().optional().describe('Network address from which it came.'),
    error: z.string().optional().describe('Why it failed.'),
    details: z.record(z.string(), z.string()).optional().describe('More about it, such as the name that was typed in.'),
  })
  .register(components, { id: 'EventRepresentation' })

const { eventsEnabled, eventsExpiration, eventsListeners, enabledEventTypes, ...remainingFields } =
  kinds.realm.schema.shape
const { adminEventsEnabled, adminEventsDetailsEnabled } = remainingFields
const fields = {
  eventsEnabled,
  eventsExpiration,
  eventsListeners,
  enabledEventTypes,
  adminEventsEnabled,
  adminEventsDetailsEnabled,
} as z.ZodRawShape
const config = z.strictObject(fields).register(components, { id: 'RealmEventsConfigRepresentation' })
const configBody: BodyForm = {
  schema: config,
  description: 'settings of events, as they shall be',
  representation: 'RealmEventsConfigRepresentation',
}

const date = 'a day (yyyy-MM-dd) or a time in milliseconds since 1970'
const stretch = {
  dateFrom: z.string().optional().describe(`Not before: ${date}.`),
  dateTo: z.string().optional().describe(`Not after: ${date}.`),
  direction: z.string().optional().describe('asc: the oldest first; desc or absent: the newest first.'),
  ...page,
}
const userQuery = z.object({
  type: queryTexts.describe('What happened.'),
  client: z.string().optional().describe('The client through which it happened.'),
  user: z.string().optional().describe('Id of the user.'),
  ipAddress: z.string().optional().describe('Network address from which it came.'),
  ...stretch,
})
const query = z.object({
  operationTypes: queryTexts.describe('What was done.'),
  resourceTypes: queryTexts.describe('What it was done to.'),
  resourcePath: z.string().optional().describe('Resource path below the realm; `*` matches any text.'),
  authRealm: z.string().optional().describe('Id of the realm of the user.'),
  authClient: z.string().optional().describe('Id of the client through which it was done.'),
  authUser: z.string().optional().describe('Id of the user.'),
  authIpAddress: z.string().optional().describe('Network address from which it was done.'),
  ...stretch,
})

/** The operations on user events, admin events and the events configuration. */
export const eventOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'listAdminEvents',
    method: 'GET',
    path: '/admin/realms/{realm}/admin-events',
    summary: 'List admin events; at most 100 by default',
    permission: 'view-events',
    query,
    responses: { 200: { description: 'The events.', schema: z.array(adminEvent) }, ...errorResponses },
    handle: readHandler((context, call) => listAdminEvents(context, call.query)),
  },
  {
    operationId: 'deleteAdminEvents',
    method: 'DELETE',
    path: '/admin/realms/{realm}/admin-events',
    summary: 'Delete all admin events',
    permission: 'manage-events',
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler(clearAdminEvents),
  },
  {
    operationId: 'listEvents',
    method: 'GET',
    path: '/admin/realms/{realm}/events',
    summary: 'List user events (log-in events); at most 100 by default',
    permission: 'view-events',
    query: userQuery,
    responses: { 200: { description: 'The events.', schema: z.array(userEvent) }, ...errorResponses },
    handle: readHandler((context, call) => listUserEvents(context, call.query)),
  },
  {
    operationId: 'deleteEvents',
    method: 'DELETE',
    path: '/admin/realms/{realm}/events',
    summary: 'Delete all user events',
    permission: 'manage-events',
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler(clearUserEvents),
  },
  {
    operationId: 'getEventsConfig',
    method: 'GET',
    path: '/admin/realms/{realm}/events/config',
    summary: 'Get the events configuration',
    permission: 'view-events',
    responses: { 200: { description: 'The settings.', schema: config }, ...errorResponses },
    handle: readHandler(getEventsConfig),
  },
  {
    operationId: 'updateEventsConfig',
    method: 'PUT',
    path: '/admin/realms/{realm}/events/config',
    summary: 'Update the events configuration',
    permission: 'manage-events',
    event: 'REALM',
    body: configBody,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) => replaceEventsConfig(context, call.body as Representation)),
  },
])
