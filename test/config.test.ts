import { describe, expect, expectTypeOf, test } from 'vitest'
import { readSettings, renderSettingsTable, type ServerSettings, SettingsError, settings } from '../src/config.ts'

const production = {
  REGENT_PRODUCTION: 'true',
  REGENT_DATABASE: 'postgres://regent@db/regent',
  REGENT_HOSTNAME: 'https://id.example.com',
  REGENT_KEY_FILE: '/etc/regent/key',
}

test('without settings, the mode is development on the embedded store', () => {
  expect(readSettings({}, {})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    httpsPort: 8443,
    httpsCertificateFile: undefined,
    httpsCertificateKeyFile: undefined,
    hostname: undefined,
    proxyHeaders: undefined,
    proxyTrustedAddresses: undefined,
    basePath: '/v1',
    data: 'data',
    database: undefined,
    databaseDirect: undefined,
    databasePool: 10,
    workers: 1,
    databasePreparedStatements: 'on',
    keyFile: undefined,
    source: undefined,
    sources: undefined,
    sourcePermissions: undefined,
    sourceLease: 15,
    sourceInterval: 60,
    sourceWebhookSecretFile: undefined,
    sourceSigners: undefined,
    sourceVariables: undefined,
    journalRetention: undefined,
    unknownFields: 'error',
    adminUser: 'admin',
    adminPassword: 'admin',
    fluxArtifactHosts: ['source-controller.flux-system.svc.cluster.local'],
    operator: false,
    admissionPort: 9443,
    console: 'on',
    production: false,
    requireSecondApprover: false,
    logLevel: 'warn',
    logFormat: 'auto',
  })
})

test('a flag wins over a variable, and a variable over the default', () => {
  const env = { REGENT_PORT: '8099', REGENT_DATA: './x', REGENT_ADMIN_USER: 'root' }
  expect(readSettings({ port: '0' }, env)).toMatchObject({ port: 0, data: './x', adminUser: 'root' })
  expect(readSettings({ production: undefined, logLevel: 'debug' }, env)).toMatchObject({
    port: 8099,
    logLevel: 'debug',
  })
})

test('an empty variable counts as absent, except for REGENT_SOURCE, where it means no sources', () => {
  const env = Object.fromEntries(Object.values(settings).map(({ variable }) => [variable, '']))
  expect(readSettings({}, env)).toEqual({ ...readSettings({}, {}), source: [] })
})

test('the limit of a source names realms and roles, all or none', () => {
  const limits = 'team=acme|beta:view-users|manage-users, ./realms=*:, *=:*'
  expect(readSettings({}, { REGENT_SOURCE_PERMISSIONS: limits }).sourcePermissions).toEqual([
    { source: 'team', realms: ['acme', 'beta'], roles: ['view-users', 'manage-users'] },
    { source: './realms', roles: [] },
    { source: '*', realms: [] },
  ])
  expect(() => readSettings({ sourcePermissions: ['team=acme:owner'] }, {})).toThrow('--source-permissions')
  expect(() => readSettings({ sourcePermissions: ['acme'] }, {})).toThrow('must be like team=acme|beta')
})

test('sources are repeated flags or a list with commas', () => {
  expect(readSettings({}, { REGENT_SOURCE: 'examples, https://example.com/realms.git' }).source).toEqual([
    'examples',
    'https://example.com/realms.git',
  ])
  expect(readSettings({ source: ['a,b', 'c'] }, { REGENT_SOURCE: 'd' }).source).toEqual(['a,b', 'c'])
  expect(readSettings({ source: [''] }, { REGENT_SOURCE: 'd' }).source).toEqual([])
})

test('the retention of the journal names each stream once, in days', () => {
  const read = (journalRetention: string) => readSettings({ journalRetention }, {}).journalRetention
  expect(read('configuration=730d, users=90d')).toEqual({ configuration: 730, users: 90 })
  expect(read('users=1d')).toEqual({ configuration: undefined, users: 1 })
  for (const invalid of ['90d', 'users=90', 'users=0d', 'events=9d', 'users=1d,users=2d', 'users=1.5d'])
    expect(() => read(invalid), invalid).toThrow('must be like configuration=730d,users=90d')
})

test('proxies are addresses and networks', () => {
  const proxies = { REGENT_PROXY_HEADERS: 'forwarded', REGENT_PROXY_TRUSTED_ADDRESSES: '10.0.0.0/8, ::1' }
  expect(readSettings({}, proxies)).toMatchObject({ proxyTrustedAddresses: ['10.0.0.0/8', '::1'] })
  for (const proxy of ['10.0.0.0/33', '10.0.0.0/0', '::1/129', 'proxy.local', '10.0.0.1/8/9']) {
    expect(problemsOf({ proxyTrustedAddresses: proxy }, proxies), proxy).toContain('must be addresses or networks')
  }
})

test('settings that belong together are required together', () => {
  expect(problemsOf({ httpsCertificateFile: 'tls.crt' }, {})).toContain('--https-certificate-key-file')
  expect(problemsOf({ httpsCertificateKeyFile: 'tls.key' }, {})).toContain('--https-certificate-file')
  expect(problemsOf({ proxyTrustedAddresses: '10.0.0.1' }, {})).toContain('--proxy-headers')
})

test('the host name loses its last slash', () => {
  expect(readSettings({ hostname: 'https://id.example.com/sso/' }, {}).hostname).toBe('https://id.example.com/sso')
})

test('one error lists all problems by flag and variable, without values', () => {
  const env = { REGENT_DATABASE: 'mysql://root:hush@db/x', REGENT_BASE_PATH: 'v1', REGENT_LOG_LEVEL: 'loud' }
  expect(problemsOf({ port: '65536', hostname: 'ftp://x' }, env)).toBe(
    [
      'These settings are invalid or missing:',
      '  --port (REGENT_PORT): must be a whole number from 0 to 65535',
      '  --hostname (REGENT_HOSTNAME): must be an http or https URL',
      '  --base-path (REGENT_BASE_PATH): must be a path such as /v1',
      '  --database (REGENT_DATABASE): must be a postgres URL',
      '  --log-level (REGENT_LOG_LEVEL): must be one of fatal, error, warn, info, debug, trace, silent',
    ].join('\n'),
  )
})

describe('development mode', () => {
  test.each(['127.0.0.1', '127.8.0.1', '::1', 'localhost'])('listens on %s', (host) => {
    expect(readSettings({ host }, {}).host).toBe(host)
  })

  test.each(['0.0.0.0', '::', '192.0.2.1', '127.example.com'])('does not listen on %s', (host) => {
    expect(problemsOf({ host }, {})).toContain('--host (REGENT_HOST): must be a loopback address in development mode')
  })
})

test('a database requires a key file in any mode, since none is generated for it', () => {
  expect(problemsOf({ database: 'postgres://regent@db/regent' }, {})).toContain(
    '--key-file (REGENT_KEY_FILE): required with a database: create one with "openssl rand -base64 32 > key"',
  )
})

describe('production mode', () => {
  test('listens on all addresses and generates no administrator', () => {
    const read = readSettings({ host: '0.0.0.0' }, production)
    expect(read).toMatchObject({ host: '0.0.0.0', production: true, keyFile: '/etc/regent/key' })
    expect([read.adminUser, read.adminPassword]).toEqual([undefined, undefined])
  })

  test('requires a host name, a database and a key file', () => {
    expect(problemsOf({ production: true }, {})).toBe(
      [
        'These settings are invalid or missing:',
        '  --hostname (REGENT_HOSTNAME): required in production mode',
        '  --database (REGENT_DATABASE): required in production mode',
        '  --key-file (REGENT_KEY_FILE): required in production mode',
      ].join('\n'),
    )
  })

  test('requires user name and password of the administrator together', () => {
    expect(problemsOf({ adminUser: 'root' }, production)).toContain(
      '--admin-password (REGENT_ADMIN_PASSWORD): required with',
    )
    expect(problemsOf({ adminPassword: 'hush' }, production)).toContain(
      '--admin-user (REGENT_ADMIN_USER): required with',
    )
    expect(readSettings({ adminUser: 'root', adminPassword: 'hush' }, production).adminUser).toBe('root')
  })

  test('must be true or false', () => {
    expect(problemsOf({ host: '0.0.0.0' }, { REGENT_PRODUCTION: 'perhaps' })).toBe(
      'These settings are invalid or missing:\n  --production (REGENT_PRODUCTION): must be true or false',
    )
    expect(readSettings({}, { REGENT_PRODUCTION: '0' }).production).toBe(false)
  })
})

test('every setting is documented', () => {
  const table = renderSettingsTable()
  for (const { flag, variable } of Object.values(settings)) {
    expect(table).toContain(`\`${flag}`)
    expect(table).toContain(`\`${variable}\``)
  }
})

test('a setting with a default is never undefined', () => {
  expectTypeOf<ServerSettings['port']>().toEqualTypeOf<number>()
  expectTypeOf<ServerSettings['source']>().toEqualTypeOf<string[] | undefined>()
  expectTypeOf<ServerSettings['keyFile']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<ServerSettings['production']>().toEqualTypeOf<boolean>()
  expectTypeOf<ServerSettings['database']>().toEqualTypeOf<string | undefined>()
})

function problemsOf(flags: Record<string, unknown>, env: Record<string, string>): string {
  try {
    readSettings(flags, env)
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
  return 'no problems'
}
