// The user profile: the attributes of users, with validation and permissions.
import * as z from 'zod'
import recorded from './built-in/user-profile.json' with { type: 'json' }
import { isList, isObject, type Json, type Representation } from './json.ts'
import { nameSchema } from './json-schema.ts'

const names = z.array(z.string())
const settings = z.record(z.string(), z.json())
const attribute = nameSchema(
  'UPAttribute',
  z.strictObject({
    name: z.string().nullish().describe('Name of the attribute, which is unique.'),
    displayName: z.string().nullish().describe('Display name of the attribute.'),
    validations: z
      .record(z.string(), settings.nullable())
      .nullish()
      .describe('Validators of values, with their settings.'),
    annotations: settings.nullish().describe('Annotations for pages.'),
    required: nameSchema(
      'UPAttributeRequired',
      z.strictObject({
        roles: names.nullish().describe('Roles that must set a value: user and admin.'),
        scopes: names.nullish().describe('Client scopes that require a value.'),
      }),
    )
      .nullish()
      .describe('Conditions under which a value is required. An empty object: always. Absent: never.'),
    permissions: nameSchema(
      'UPAttributePermissions',
      z.strictObject({
        view: names.nullish().describe('Roles that can view the value: user and admin.'),
        edit: names.nullish().describe('Roles that can edit the value: user and admin.'),
      }),
    )
      .nullish()
      .describe('Permissions on the attribute.'),
    selector: nameSchema(
      'UPAttributeSelector',
      z.strictObject({ scopes: names.nullish().describe('Client scopes of which one must be requested.') }),
    )
      .nullish()
      .describe('Conditions under which the attribute is used. Absent: always.'),
    group: z.string().nullish().describe('Attribute group.'),
    multivalued: z.boolean().nullish().describe('Whether the attribute can have several values.'),
    defaultValue: z.string().nullish().describe('Default value for new users.'),
  }),
)

const group = nameSchema(
  'UPGroup',
  z.strictObject({
    name: z.string().nullish().describe('Name of the attribute group.'),
    displayHeader: z.string().nullish().describe('Heading of the attribute group.'),
    displayDescription: z.string().nullish().describe('Description below the heading.'),
    annotations: settings.nullish().describe('Annotations for pages.'),
  }),
)

/** The schema of a user profile. Keycloak: UPConfig. */
export const profileSchema = nameSchema(
  'UPConfig',
  z.strictObject({
    attributes: z.array(attribute).nullish().describe('Attributes, in the order of forms.'),
    groups: z.array(group).nullish().describe('Attribute groups.'),
    unmanagedAttributePolicy: nameSchema('UnmanagedAttributePolicy', z.enum(['ENABLED', 'ADMIN_EDIT', 'ADMIN_VIEW']))
      .nullish()
      .describe(
        'Permissions on unmanaged attributes: view and edit by users and administrators (ENABLED), edit by administrators, or view by administrators. Absent: none.',
      ),
  }),
)

const groupMetadata = nameSchema(
  'UserProfileAttributeGroupMetadata',
  z.object({
    name: z.string().optional().describe('Name of the attribute group.'),
    displayHeader: z.string().optional().describe('Heading of the attribute group.'),
    displayDescription: z.string().optional().describe('Description below the heading.'),
    annotations: settings.optional().describe('Annotations for pages.'),
  }),
)

/** Keycloak: UserProfileMetadata. The part of the user profile that a form needs. */
export const profileMetadata = nameSchema(
  'UserProfileMetadata',
  z.object({
    attributes: z
      .array(
        nameSchema(
          'UserProfileAttributeMetadata',
          z.object({
            name: z.string().describe('Name of the attribute.'),
            displayName: z.string().describe('Display name of the attribute.'),
            required: z.boolean().describe('Whether a value is required.'),
            readOnly: z.boolean().describe('Whether the value cannot be changed.'),
            annotations: settings.optional().describe('Annotations for pages.'),
            validators: z.record(z.string(), settings).describe('Validators of values, with their settings.'),
            group: z.string().optional().describe('Attribute group.'),
            multivalued: z.boolean().describe('Whether the attribute can have several values.'),
            defaultValue: z.string().optional().describe('Default value for new users.'),
          }),
        ),
      )
      .describe('Attributes that the caller can view.'),
    groups: z.array(groupMetadata).describe('Attribute groups.'),
  }),
)

/** A user profile with all defaults. */
export type UserProfile = {
  readonly attributes?: readonly ProfileAttribute[]
  readonly groups: readonly Representation[]
  readonly unmanagedAttributePolicy?: string
}

/** An attribute of a user profile, with all defaults. */
export type ProfileAttribute = {
  readonly name: string
  readonly displayName?: string
  readonly validations?: Readonly<Record<string, Representation>>
  readonly annotations?: Representation
  readonly required?: { readonly roles?: readonly string[]; readonly scopes?: readonly string[] }
  readonly permissions?: { readonly view: readonly string[]; readonly edit: readonly string[] }
  readonly selector?: { readonly scopes?: readonly string[] }
  readonly group?: string
  readonly multivalued: boolean
  readonly defaultValue?: string
}

/** The user profile of a realm that does not declare one. */
export const defaultUserProfile: UserProfile = recorded

type DeclaredProfile = z.infer<typeof profileSchema>

/** Adds the defaults to a user profile, and removes nulls. */
export function completeUserProfile({ attributes, groups, ...rest }: DeclaredProfile): UserProfile {
  const profile = removeNulls({
    ...rest,
    ...(attributes && { attributes: attributes.map(completeAttribute) }),
    groups: groups ?? [],
  })
  return profile as UserProfile
}

function completeAttribute({ permissions, ...attribute }: NonNullable<DeclaredProfile['attributes']>[number]): Json {
  return {
    multivalued: false,
    ...removeNulls(attribute),
    ...(permissions && { permissions: { view: [], edit: [], ...removeNulls(permissions) } }),
  }
}

function removeNulls(object: object): Representation {
  const entries = Object.entries(object).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, removeNestedNulls(value)]))
}

function removeNestedNulls(value: Json): Json {
  if (isList(value)) return value.map(removeNestedNulls)
  return isObject(value) ? removeNulls(value) : value
}
