import { secretComponentSettings, userFederationSettings } from './component-types.ts'
import { text, textListMap } from './fields.ts'
import { keySettings, listGeneratedSettings } from './key-providers.ts'
import { defineKind } from './kind.ts'

/**
 * Keycloak: ComponentRepresentation, ComponentExportRepresentation. A configured provider of the realm: signing keys, a user federation
 * provider, a client registration policy. Names may repeat, and the natural key is a path with the type of the provider and the paths of
 * the parents.
 */
export const component = defineKind({
  name: 'component',
  title: 'component',
  representation: 'ComponentRepresentation',
  naturalKey: 'path',
  nameField: 'name',
  events: { type: 'COMPONENT', paths: { realm: 'components/{id}' } },
  formatName: (path) => path.replaceAll(/(^|\/)(?:[a-z][a-z0-9]*\.)+/g, '$1'),
  fields: {
    path: text(
      'Path: the type of the provider with the subtype in brackets, a slash, and the name; after the path of the parent component, if any.',
    ),
    name: text('Name of the component, which may not be unique.', { computed: true }),
    providerId: text('Provider of the component, such as ldap, rsa-generated or trusted-hosts.', {}),
    providerType: text('Type of the provider, by its Java name.', { computed: true }),
    parentId: text('Id of the parent component, or of the realm.', { computed: true }),
    subType: text('Subtype of the component: anonymous or authenticated, for client registration policies.', {
      computed: true,
    }),
    config: textListMap('Settings: lists of values by name, in any order.', {
      secret: secretComponentSettings,
      vaultSecrets: ['bindCredential'],
      destination: ({ connectionUrl, bindDn }) => ({ connectionUrl, bindDn }),
      unorderedLists: true,
      generated: ({ providerId }) => listGeneratedSettings(String(providerId)),
      default: {},
      grantKeys: { role: ['role'], group: ['group'] },
      loginControl: [...keySettings, ...userFederationSettings],
    }),
  },
})

/** The parts of a component's path. */
export interface ComponentName {
  readonly providerType: string
  readonly subType?: string | undefined
  readonly name?: string | undefined
}

/** Formats the path of a component. `parent` is the path of the parent component; empty at the top level. */
export function formatComponentPath(parent: string, { providerType, subType, name = '' }: ComponentName): string {
  const type = subType === undefined ? escapeName(providerType) : `${escapeName(providerType)}(${escapeName(subType)})`
  return `${parent}${parent && '/'}${type}/${escapeName(name)}`
}

/** Parses the path of a component. */
export function parseComponentPath(path: string): ComponentName {
  const [type = '', name = ''] = path.split('/').slice(-2)
  const [, providerType = type, subType] = /^([^(]*)(?:\((.*)\))?$/s.exec(type) ?? []
  return {
    providerType: unescapeName(providerType),
    ...(subType !== undefined && { subType: unescapeName(subType) }),
    ...(name !== '' && { name: unescapeName(name) }),
  }
}

/** Returns the path of the parent component; empty at the top level. */
export function getParentComponentPath(path: string): string {
  return path.split('/').slice(0, -2).join('/')
}

function escapeName(text: string): string {
  return text.replaceAll(/[%/()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

function unescapeName(text: string): string {
  return text.replaceAll(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
