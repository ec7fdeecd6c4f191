// Information about the server, and its providers.
import { arch, availableParallelism, release, type } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { KEY_ALGORITHMS, SECRET_ALGORITHMS } from '../../kinds/key-providers.ts'
import { API_VERSION } from '../../lib/version.ts'
import { BUILT_IN_LANGUAGES } from '../../oidc/pages/localize.ts'
import { installationFormats } from '../../service/admin-api/clients/installation/installation-formats.ts'
import { features, listProviders } from '../../service/admin-api/realms/server-info.ts'
import { requireAdministrator } from '../../service/permissions/require-permissions.ts'
import { type Operation, tagged } from '../operation.ts'
import { propertySchema, toProperty } from '../property.ts'
import { errorResponses } from '../responses.ts'

const text = (description: string) => z.string().describe(description)
const number = (description: string) => z.number().describe(description)
const texts = (description: string) => z.array(z.string()).describe(description)

const provider = z.object({
  id: text('Id of the provider.'),
  helpText: text('Help text.'),
  properties: z.array(propertySchema).describe('Settings of the provider.'),
  clientProperties: z
    .array(propertySchema)
    .optional()
    .describe('Of an authenticator of clients: settings of each client.'),
  metadata: z.record(z.string(), z.json()).describe('Capabilities of the provider, such as synchronization.'),
})

const installation = z.object({
  id: text('Id of the format.'),
  protocol: text('Protocol of the clients.'),
  downloadOnly: z.boolean().describe('Whether the document is not a text.'),
  displayType: text('Display name.'),
  helpText: text('Help text.'),
  filename: text('Name of the file.'),
  mediaType: text('Media type of the file.'),
})

const identityProvider = z.object({
  groupName: text('Heading under which the admin console lists it.'),
  name: text('Display name.'),
  id: text('Id of the type.'),
})

const mapperType = z.object({
  id: text('Id of the type.'),
  name: text('Display name.'),
  category: text('Heading under which the admin console lists it.'),
  helpText: text('Help text.'),
  properties: z.array(propertySchema).describe('Settings of the mappers.'),
  priority: number('Order of the mappers. Those of a type with a higher number run later.'),
})

const mapper = z.object({
  name: text('Name of the mapper.'),
  protocol: text('Protocol of the mapper.'),
  protocolMapper: text('Type of the mapper.'),
  consentRequired: z.boolean().describe('Keycloak: always false.'),
  config: z.record(z.string(), z.string()).describe('Settings of the mapper, by name.'),
})

const policy = nameSchema(
  'PasswordPolicyTypeRepresentation',
  z.object({
    id: text('Name of the policy.'),
    displayName: text('Display name.'),
    configType: z.string().optional().describe('Type of the value. Absent: the policy has no value.'),
    defaultValue: z.string().optional().describe('Default value.'),
    multipleSupported: z.boolean().describe('Whether a password policy can contain it several times.'),
  }),
)

const feature = z.object({
  name: text('Name of the feature.'),
  label: text('Display name.'),
  type: text('Maturity of the feature, such as DEFAULT or PREVIEW.'),
  dependencies: texts('Features that it requires.'),
  enabled: z.boolean().describe('Whether the feature is enabled.'),
})

const machine = {
  systemInfo: nameSchema(
    'SystemInfoRepresentation',
    z.object({
      version: text('Version of Keycloak whose admin API is implemented.'),
      serverTime: text('Current time.'),
      uptime: text('Time since the start, in words.'),
      uptimeMillis: number('Time since the start, in milliseconds.'),
      osName: text('Operating system.'),
      osArchitecture: text('Architecture of the processor.'),
      osVersion: text('Version of the operating system.'),
      fileEncoding: text('Encoding of files.'),
      userTimezone: text('Time zone of the server.'),
      userLocale: text('Language of the server.'),
    }),
  ).describe('The system. Only for server administrators.'),
  cpuInfo: z
    .object({ processorCount: number('Number of available processors.') })
    .describe('Processors. Only for server administrators.'),
  memoryInfo: nameSchema(
    'MemoryInfoRepresentation',
    z.object({
      total: number('Maximum size of the heap, in bytes.'),
      totalFormated: text('Maximum size of the heap, in megabytes.'),
      used: number('Used size of the heap, in bytes.'),
      usedFormated: text('Used size of the heap, in megabytes.'),
      free: number('Free size of the heap, in bytes.'),
      freePercentage: number('Free share of the heap, in percent.'),
      freeFormated: text('Free size of the heap, in megabytes.'),
    }),
  ).describe('Memory. Only for server administrators.'),
}

const serverInfo = nameSchema(
  'ServerInfoRepresentation',
  z.object({
    ...z.object(machine).partial().shape,
    profileInfo: nameSchema(
      'ProfileInfoRepresentation',
      z.object({
        name: text('Name of the profile.'),
        disabledFeatures: texts('Disabled features.'),
        previewFeatures: texts('Enabled preview features.'),
        experimentalFeatures: texts('Enabled experimental features.'),
      }),
    ).describe('Features by maturity.'),
    features: z.array(feature).describe('Features of the server.'),
    cryptoInfo: z
      .object({
        cryptoProvider: text('Provider of cryptography.'),
        supportedKeystoreTypes: texts('Supported keystore types.'),
        clientSignatureSymmetricAlgorithms: texts('Symmetric signature algorithms for client authentication.'),
        clientSignatureAsymmetricAlgorithms: texts('Asymmetric signature algorithms for client authentication.'),
      })
      .describe('Cryptography.'),
    themes: z
      .record(
        z.string(),
        z.array(
          z.object({
            name: text('Name of the theme.'),
            locales: z.array(z.string()).optional().describe('Languages of its texts.'),
          }),
        ),
      )
      .describe(
        'Themes by type: the names that realms and clients may declare. All have the same appearance in Regent.',
      ),
    socialProviders: z.array(identityProvider).describe('Types of identity providers for social networks.'),
    identityProviders: z.array(identityProvider).describe('Other types of identity providers.'),
    providers: z
      .record(
        z.string(),
        z.object({
          internal: z.boolean().describe('Whether extensions cannot add providers.'),
          providers: z
            .record(z.string(), z.object({ order: number('Order of the provider. The highest is the default.') }))
            .describe('Providers by id.'),
        }),
      )
      .describe('Providers by type.'),
    protocolMapperTypes: z.record(z.string(), z.array(mapperType)).describe('Types of protocol mappers by protocol.'),
    builtinProtocolMappers: z.record(z.string(), z.array(mapper)).describe('Built-in protocol mappers by protocol.'),
    clientInstallations: z
      .record(z.string(), z.array(installation))
      .describe('Formats of client installations by protocol.'),
    componentTypes: z
      .record(z.string(), z.array(provider))
      .describe('Types of components by the Java name of the provider type.'),
    passwordPolicies: z.array(policy).describe('Password policies.'),
    enums: z.record(z.string(), texts('The values.')).describe('Values of enumerations by name.'),
    parameterizedScopeTypes: z
      .array(
        z.object({
          name: text('Name of the type.'),
          repeatable: z.boolean().describe('Whether a client can request the scope several times.'),
        }),
      )
      .describe('Types of the parameter of a client scope. Regent stores parameters only.'),
  }),
)

/** The operation GET /admin/serverinfo. */
export const serverInfoOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'getServerInfo',
    method: 'GET',
    path: '/admin/serverinfo',
    summary: 'Get server information: providers, features, themes; system information for server administrators',
    permission: 'any',
    responses: { 200: { description: 'The server information.', schema: serverInfo }, ...errorResponses },
    handle: async ({ service, caller }) => {
      const permissions = await service.getPermissions(caller)
      requireAdministrator(permissions)
      return { status: 200, body: { ...(permissions.all && aboutMachine()), ...about() } }
    },
  },
])

/** Keycloak: the names of its themes, by type. */
const THEMES: Readonly<Record<string, readonly string[]>> = {
  account: ['keycloak.v3'],
  admin: ['keycloak.v2'],
  common: ['keycloak'],
  email: ['keycloak'],
  login: ['keycloak', 'keycloak.v2'],
  welcome: ['keycloak'],
}

const themes = Object.fromEntries(
  Object.entries(THEMES).map(([type, names]) => [
    type,
    names.map((name) => ({ name, ...((type === 'login' || type === 'email') && { locales: BUILT_IN_LANGUAGES }) })),
  ]),
)

function about() {
  const { componentTypes, protocolMapperTypes, ...rest } = listProviders()
  const providers = Object.entries(componentTypes).map(([type, all]) => [
    type,
    all.map(({ properties, clientProperties, metadata = {}, ...provider }) => ({
      ...provider,
      properties: properties.map(toProperty),
      ...(clientProperties && { clientProperties: clientProperties.map(toProperty) }),
      metadata,
    })),
  ])
  const mapperTypes = Object.entries(protocolMapperTypes).map(([protocol, all]) => [
    protocol,
    all.map((type) => ({ ...type, properties: type.properties.map(toProperty) })),
  ])
  return {
    profileInfo: {
      name: 'default',
      disabledFeatures: features.filter(({ enabled }) => !enabled).map(({ name }) => name),
      previewFeatures: [],
      experimentalFeatures: [],
    },
    features,
    cryptoInfo: {
      cryptoProvider: 'node',
      supportedKeystoreTypes: [],
      clientSignatureSymmetricAlgorithms: SECRET_ALGORITHMS,
      clientSignatureAsymmetricAlgorithms: KEY_ALGORITHMS,
    },
    themes,
    clientInstallations: installationFormats,
    ...rest,
    protocolMapperTypes: Object.fromEntries(mapperTypes),
    componentTypes: Object.fromEntries(providers),
  }
}

function aboutMachine(): z.infer<z.ZodObject<typeof machine>> {
  const up = Math.floor(process.uptime())
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions()
  const { heap_size_limit: total, used_heap_size: used } = getHeapStatistics()
  return {
    systemInfo: {
      version: API_VERSION,
      serverTime: new Date().toUTCString(),
      uptime: `${Math.floor(up / 86_400)} days, ${Math.floor(up / 3600) % 24} hours, ${Math.floor(up / 60) % 60} minutes, ${up % 60} seconds`,
      uptimeMillis: up * 1000,
      osName: type(),
      osArchitecture: arch(),
      osVersion: release(),
      fileEncoding: 'UTF-8',
      userTimezone: timeZone,
      userLocale: locale,
    },
    cpuInfo: { processorCount: availableParallelism() },
    memoryInfo: {
      total,
      totalFormated: megabytes(total),
      used,
      usedFormated: megabytes(used),
      free: total - used,
      freePercentage: Math.floor((100 * (total - used)) / total),
      freeFormated: megabytes(total - used),
    },
  }
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MB`
