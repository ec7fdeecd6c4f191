import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { anyRepresentations, namedSchemas } from '../../kinds/json-schema.ts'
import { profileMetadata } from '../../kinds/user-profile.ts'
import {
  addMember,
  countMembersOfOrganization,
  getMember,
  listMembers,
  listOrganizationsOfMember,
  listOrganizationsOfUser,
  removeMember,
} from '../../service/admin-api/organizations/organization-members.ts'
import {
  addProvider,
  getProviderOfOrganization,
  listProvidersOfOrganization,
  removeProvider,
} from '../../service/admin-api/organizations/organization-providers.ts'
import { countMatchingOrganizations, organizations } from '../../service/admin-api/organizations/organizations.ts'
import type { BodyForm } from '../body.ts'
import { createHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import {
  alreadySoResponse,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const ALL = '/admin/realms/{realm}/organizations'
const ONE = `${ALL}/{org-id}`
const view = 'view-organizations'
const manage = 'manage-organizations'

const organization = (call: Call) => getParameter(call, 'org-id')
const member = (call: Call) => getParameter(call, 'member-id')
const provider = (call: Call) => getParameter(call, 'alias')
const isBrief = ({ query }: Call) => query.briefRepresentation !== false

const count = { 200: { description: 'The number.', schema: z.number() } }
const search = {
  search: z.string().optional().describe('Part of the name or of a domain, in any case.'),
  exact: queryFlag.describe('Whether the name or domain must match exactly. Default: false.'),
  q: z.string().optional().describe('Attributes as `name:value`, separated by spaces. All must match.'),
}
const brief = {
  briefRepresentation: queryFlag.describe('Whether to leave out attributes. Default: true.'),
}

/** A member of an organization. */
export const memberSchema = z
  .object({
    ...kinds.user.schema.shape,
    id: z.string().describe('Id of the user.'),
    userProfileMetadata: profileMetadata.optional().describe('User profile metadata of the attributes.'),
    socialLinks: anyRepresentations('SocialLinkRepresentation')
      .optional()
      .meta({ deprecated: true })
      .describe('Keycloak: legacy field, ignored.'),
    membershipType: z
      .enum(['MANAGED', 'UNMANAGED'])
      .register(namedSchemas, { id: 'MembershipType' })
      .describe('Whether the organization manages the user, who is then deleted when the membership ends.'),
  } as z.ZodRawShape)
  .describe('A user as a member of an organization.')
  .register(namedSchemas, { id: 'MemberRepresentation' })

const memberQuery = z.object({
  search: z.string().optional().describe('Part of the username, email address, first name or last name, in any case.'),
  exact: queryFlag.describe('Whether one of them must match exactly. Default: false.'),
  membershipType: z.string().optional().describe('Only members of this type: MANAGED or UNMANAGED.'),
  briefRepresentation: queryFlag.describe('Whether to return only the basic fields. Default: true.'),
  ...page,
})

const { list, ...otherOperations } = collection(organizations, {
  path: ALL,
  item: '{org-id}',
  query: z.object({ ...search, ...brief, ...page }),
})

const memberOperations: UntaggedOperation[] = [
  {
    operationId: 'listOrganizationMembers',
    method: 'GET',
    path: `${ONE}/members`,
    summary: 'List the members of an organization',
    permission: [view, 'list-users'],
    query: memberQuery,
    responses: { 200: { description: 'The members.', schema: z.array(memberSchema) }, ...errorResponses },
    handle: readHandler((context, call) => listMembers(context, organization(call), call.query)),
  },
  {
    operationId: 'addOrganizationMember',
    method: 'POST',
    path: `${ONE}/members`,
    summary: 'Add a user as a member of an organization',
    permission: [manage, 'list-users'],
    event: { type: 'ORGANIZATION_MEMBERSHIP', asCalled: true },
    body: body('Id of the user.'),
    responses: { ...createdResponse, ...errorResponses, ...alreadySoResponse },
    handle: createHandler((context, call) => addMember(context, organization(call), String(call.body))),
  },
  {
    operationId: 'countOrganizationMembers',
    method: 'GET',
    path: `${ONE}/members/count`,
    summary: 'Count the members of an organization',
    permission: [view, 'list-users'],
    responses: { ...count, ...errorResponses },
    handle: readHandler((context, call) => countMembersOfOrganization(context, organization(call))),
  },
  {
    operationId: 'getOrganizationMember',
    method: 'GET',
    path: `${ONE}/members/{member-id}`,
    summary: 'Get a member of an organization',
    permission: [view, 'view-users'],
    responses: { 200: { description: 'The member.', schema: memberSchema }, ...errorResponses },
    handle: readHandler((context, call) => getMember(context, organization(call), member(call))),
  },
  {
    operationId: 'removeOrganizationMember',
    method: 'DELETE',
    path: `${ONE}/members/{member-id}`,
    summary: 'Remove a member from an organization, and delete a managed member',
    permission: [manage, 'manage-users'],
    event: 'ORGANIZATION_MEMBERSHIP',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => removeMember(context, organization(call), member(call))),
  },
  {
    operationId: 'listOrganizationsOfMember',
    method: 'GET',
    path: `${ONE}/members/{member-id}/organizations`,
    summary: 'List the organizations of a member',
    permission: [view, 'view-users'],
    query: z.object(brief),
    responses: { ...listResponse(kinds.organization), ...errorResponses },
    handle: readHandler((context, call) =>
      listOrganizationsOfMember(context, { organization: organization(call), user: member(call) }, isBrief(call)),
    ),
  },
  {
    operationId: 'listOrganizationsOfUser',
    method: 'GET',
    path: `${ALL}/members/{member-id}/organizations`,
    summary: 'List the organizations of a user',
    permission: ['list-organizations', 'view-users'],
    query: z.object(brief),
    responses: { ...listResponse(kinds.organization), ...errorResponses },
    handle: readHandler((context, call) => listOrganizationsOfUser(context, member(call), isBrief(call))),
  },
]

const providerOperations: UntaggedOperation[] = [
  {
    operationId: 'listOrganizationProviders',
    method: 'GET',
    path: `${ONE}/identity-providers`,
    summary: 'List the identity providers of an organization',
    permission: [view, 'view-identity-providers'],
    responses: { ...listResponse(kinds.identityProvider), ...errorResponses },
    handle: readHandler((context, call) => listProvidersOfOrganization(context, organization(call))),
  },
  {
    operationId: 'addOrganizationProvider',
    method: 'POST',
    path: `${ONE}/identity-providers`,
    summary: 'Add an identity provider to an organization',
    permission: [manage, 'manage-identity-providers'],
    event: false,
    body: body('Alias of the identity provider.'),
    responses: { ...noContentResponse, ...errorResponses, ...alreadySoResponse },
    handle: writeHandler((context, call) => addProvider(context, organization(call), String(call.body))),
  },
  {
    operationId: 'getOrganizationProvider',
    method: 'GET',
    path: `${ONE}/identity-providers/{alias}`,
    summary: 'Get an identity provider of an organization',
    permission: [view, 'view-identity-providers'],
    responses: { ...objectResponse(kinds.identityProvider), ...errorResponses },
    handle: readHandler((context, call) => getProviderOfOrganization(context, organization(call), provider(call))),
  },
  {
    operationId: 'removeOrganizationProvider',
    method: 'DELETE',
    path: `${ONE}/identity-providers/{alias}`,
    summary: 'Remove an identity provider from an organization',
    permission: [manage, 'manage-identity-providers'],
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => removeProvider(context, organization(call), provider(call))),
  },
]

/** The operations on organizations, their members and identity providers. */
export const organizationOperations: Operation[] = tagged('Organizations', [
  list,
  {
    operationId: 'countOrganizations',
    method: 'GET',
    path: `${ALL}/count`,
    summary: 'Count the organizations',
    permission: organizations.search!,
    query: z.object(search),
    responses: { ...count, ...errorResponses },
    handle: readHandler((context, call) => countMatchingOrganizations(context, call.query)),
  },
  ...Object.values(otherOperations),
  ...memberOperations,
  ...providerOperations,
])

function body(description: string): BodyForm {
  return { schema: z.string(), description, text: true }
}
