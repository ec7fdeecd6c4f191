// What the server is, and what there is to choose from.
import { arch, availableParallelism, release, type } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import * as z from 'zod'
import { KEY_ALGORITHMS, SECRET_ALGORITHMS } from '../../kinds/key-providers.ts'
import { API_VERSION } from '../../lib/version.ts'
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
  helpText: text('What it does.'),
  properties: z.array(propertySchema).describe('Its settings.'),
  metadata: z.object({}).describe('What else is known of it.'),
})

const identityProvider = z.object({
  groupName: text('What it is listed among.'),
  name: text('Display name.'),
  id: text('Id of the type.'),
})

const mapperType = z.object({
  id: text('Id of the type.'),
  name: text('Display name.'),
  category: text('What it is listed among.'),
  priority: number('Mappers of a type with a higher number run later.'),
})

const mapper = z.object({
  name: text('Name of the mapper.'),
  protocol: text('Protocol of the mapper.'),
  protocolMapper: text('Type of the mapper.'),
  consentRequired: z.boolean().describe('Whether the administrator chooses a value.'),
  config: z.record(z.string(), z.string()).describe('Its settings.'),
})

const policy = z.object({
  id: text('Name of the policy.'),
  displayName: text('Display name.'),
  configType: z.string().optional().describe('Type of its value; absent: it has none.'),
  defaultValue: z.string().optional().describe('What counts where nothing is set.'),
  multipleSupported: z.boolean().describe('Whether it can be used several times.'),
})

const feature = z.object({
  name: text('Name of the feature.'),
  label: text('What it is.'),
  type: text('How finished it is.'),
  dependencies: texts('Features that it needs.'),
  enabled: z.boolean().describe('Whether it is there.'),
})

const machine = {
  systemInfo: z
    .object({
      version: text('Version of Keycloak whose admin API this is.'),
      serverTime: text('What time it is.'),
      uptime: text('Since when the server runs, in words.'),
      uptimeMillis: number('Since when the server runs; milliseconds.'),
      osName: text('Operating system.'),
      osArchitecture: text('Architecture of the processor.'),
      osVersion: text('Version of the operating system.'),
      fileEncoding: text('Encoding of files.'),
      userTimezone: text('Time zone of the server.'),
      userLocale: text('Language of the server.'),
    })
    .describe('The machine.'),
  cpuInfo: z.object({ processorCount: number('How many processors may be used.') }).describe('Processors.'),
  memoryInfo: z
    .object({
      total: number('How much may be used; bytes.'),
      totalFormated: text('The same in words.'),
      used: number('How much is used; bytes.'),
      usedFormated: text('The same in words.'),
      free: number('How much is free; bytes.'),
      freePercentage: number('How much is free, of a hundred.'),
      freeFormated: text('The same in words.'),
    })
    .describe('Memory.'),
}

const serverInfo = z.object({
  ...z.object(machine).partial().shape,
  profileInfo: z
    .object({
      name: text('Name of the profile.'),
      disabledFeatures: texts('What is not there.'),
      previewFeatures: texts('What may still change.'),
      experimentalFeatures: texts('What may go again.'),
    })
    .describe('Features, in short.'),
  features: z.array(feature).describe('Features.'),
  cryptoInfo: z
    .object({
      cryptoProvider: text('What signs and encrypts.'),
      supportedKeystoreTypes: texts('Files of keys that can be read.'),
      clientSignatureSymmetricAlgorithms: texts('Algorithms of secrets.'),
      clientSignatureAsymmetricAlgorithms: texts('Algorithms of keys.'),
    })
    .describe('Signing.'),
  themes: z.record(z.string(), z.array(z.object({ name: text('Name of the theme.') }))).describe('Themes, by type.'),
  socialProviders: z.array(identityProvider).describe('Social networks.'),
  identityProviders: z.array(identityProvider).describe('Types of identity providers.'),
  providers: z
    .record(
      z.string(),
      z.object({
        internal: z.boolean().describe('Whether only the server itself can have more of them.'),
        providers: z.record(z.string(), z.object({ order: number('Which comes first.') })).describe('By id.'),
      }),
    )
    .describe('Providers, by what they are for.'),
  protocolMapperTypes: z.record(z.string(), z.array(mapperType)).describe('Types of protocol mappers, by protocol.'),
  builtinProtocolMappers: z.record(z.string(), z.array(mapper)).describe('Mappers that every realm has, by protocol.'),
  clientInstallations: z.record(z.string(), z.array(z.object({}))).describe('Files for clients, by protocol.'),
  componentTypes: z.record(z.string(), z.array(provider)).describe('Providers, by the Java name of their type.'),
  passwordPolicies: z.array(policy).describe('Policies for passwords.'),
  enums: z.record(z.string(), texts('The words.')).describe('Words that fields can be, by field.'),
})

/** The operation that describes the server. */
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

function about() {
  const { componentTypes, ...rest } = listProviders()
  const providers = Object.entries(componentTypes).map(([type, all]) => [
    type,
    all.map((type) => ({ ...type, properties: type.properties.map(toProperty), metadata: {} })),
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
    themes: Object.fromEntries(['account', 'admin', 'common', 'email', 'login', 'welcome'].map((theme) => [theme, []])),
    clientInstallations: {},
    ...rest,
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
