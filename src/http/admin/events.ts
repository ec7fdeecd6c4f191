import * as z from 'zod'
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { namedSchemas, nameSchema } from '../../kinds/json-schema.ts'
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
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const adminEvent = z
  .object({
    id: z.string().describe('Id of the event.'),
    time: z.int().describe('Time of the event, in milliseconds since 1970.'),
    realmId: z.string().describe('Id of the realm.'),
    authDetails: nameSchema(
      'AuthDetailsRepresentation',
      z.object({
        realmId: z.string().optional().describe('Id of the realm of the administrator.'),
        clientId: z.string().optional().describe('Id of the client that the administrator used.'),
        userId: z.string().optional().describe('Id of the administrator.'),
        ipAddress: z.string().optional().describe('IP address of the administrator.'),
      }),
    ).describe('Administrator who made the change. Empty if the server applied a source.'),
    operationType: z.enum(EVENT_OPERATIONS).describe('Type of the operation.'),
    resourceType: z.enum(EVENT_TYPES).describe('Type of the resource.'),
    resourcePath: z.string().optional().describe('Path of the resource below the realm. Absent: the realm itself.'),
    representation: z
      .string()
      .optional()
      .describe('Representation in the request, as JSON with masked secrets, if `adminEventsDetailsEnabled` is set.'),
    error: z
      .string()
      .optional()
      .describe('Error of a failed request. Never returned: as in Keycloak, a request that fails has no event.'),
    details: z.record(z.string(), z.string()).optional().describe('Details, such as the source that was applied.'),
  })
  .register(namedSchemas, { id: 'AdminEventRepresentation' })

const userEvent = z
  .object({
    id: z.string().describe('Id of the event.'),
    time: z.int().describe('Time of the event, in milliseconds since 1970.'),
    type: z.enum(USER_EVENT_TYPES).describe('Type of the event. It ends with `_ERROR` if the action failed.'),
    realmId: z.string().describe('Id of the realm.'),
    clientId: z.string().optional().describe('Client id in the request.'),
    userId: z.string().optional().describe('Id of the user.'),
    sessionId: z.string().optional().describe('Id of the session.'),
    ipAddress: z.string().optional().describe('IP address of the user.'),
    error: z.string().optional().describe('Error code.'),
    details: z.record(z.string(), z.string()).optional().describe('Details, such as the username that was entered.'),
  })
  .register(namedSchemas, { id: 'EventRepresentation' })

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
const config = z.strictObject(fields).register(namedSchemas, { id: 'RealmEventsConfigRepresentation' })
const configBody: BodyForm = {
  schema: config,
  description: 'The events configuration.',
  representation: 'RealmEventsConfigRepresentation',
}

const date = 'a day (yyyy-MM-dd) or a time in milliseconds since 1970'
const period = {
  dateFrom: z.string().optional().describe(`Only events from this time on: ${date}.`),
  dateTo: z.string().optional().describe(`Only events up to this time: ${date}.`),
  direction: z.string().optional().describe('Order: asc (oldest first) or desc (newest first). Default: desc.'),
  ...page,
}
const userQuery = z.object({
  type: queryTexts.describe('Types of events. Several parameters, or separated by commas.'),
  client: z.string().optional().describe('Client id.'),
  user: z.string().optional().describe('Id of the user.'),
  ipAddress: z.string().optional().describe('IP address of the user.'),
  ...period,
})
const query = z.object({
  operationTypes: queryTexts.describe('Types of operations. Several parameters, or separated by commas.'),
  resourceTypes: queryTexts.describe('Types of resources. Several parameters, or separated by commas.'),
  resourcePath: z.string().optional().describe('Path of the resource below the realm. `*` matches any text.'),
  authRealm: z.string().optional().describe('Id of the realm of the administrator.'),
  authClient: z.string().optional().describe('Id of the client that the administrator used.'),
  authUser: z.string().optional().describe('Id of the administrator.'),
  authIpAddress: z.string().optional().describe('IP address of the administrator.'),
  ...period,
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
    summary: 'List user events (login events); at most 100 by default',
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
    responses: { 200: { description: 'The events configuration.', schema: config }, ...errorResponses },
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
