// Invalid files change nothing, and give errors with positions and advice.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DocumentError } from '../../src/realm-file/yaml/problem.ts'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import type { RunOutcome } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows } from '../support/database-rows.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { openNewService } from '../support/service.ts'
import { applySource } from '../support/sources.ts'

const service = await openNewService()
afterAll(() => service.close())

const CALENDAR = 'clientScopes:\n  - name: calendar\n    protocol: openid-connect\n'
const ENV = { PASSWORD: 'hunter2', HOST: 'example.com' }

beforeAll(async () => {
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  await service.createRealm(SYSTEM, { representation: { realm: 'shop' } }, async () => {})
  await apply([`realm: shop\n${CALENDAR}`], 'base')
})

/** Applies a folder of files: a.yaml, b.yaml and so on. */
async function apply(texts: readonly string[], name = 'test'): Promise<RunOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'invalid-input-'))
  try {
    for (const [at, text] of texts.entries()) await writeFile(join(folder, `${'abcdef'[at]}.yaml`), text)
    return await applySource(service, await readFileSource(folder, { name, env: ENV, isAllowed: () => true }))
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    const removeFolder = (text: string) => text.replaceAll(`${folder}/`, '')
    throw new DocumentError(
      error.problems.map(({ position, message }) => ({
        position: { ...position, file: removeFolder(position.file) },
        message: removeFolder(message),
      })),
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Returns the lines of the error, and checks that nothing has changed. */
async function getRefusal(...texts: string[]): Promise<string[]> {
  const before = await dumpRows(service)
  const error: unknown = await apply(texts).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(await dumpRows(service)).toEqual(before)
  if (error === undefined) throw new Error('was not refused')
  if (!(error instanceof DocumentError)) throw error
  return error.message.split('\n')
}

const shop = (...lines: string[]) => ['realm: shop', ...lines].join('\n')
const client = (...lines: string[]) => shop('clients:', '  - clientId: web', ...lines.map((line) => `    ${line}`))
const flow = (...lines: string[]) =>
  shop('authenticationFlows:', '  - alias: ours', ...lines.map((line) => `    ${line}`))

describe('texts that are not documents', () => {
  test.each([
    ['broken YAML', shop('enabled: "yes'), ['a.yaml:2:14: a quoted string is not closed: its last quote is missing']],
    [
      'a tab',
      shop('attributes:', '\tcolour: blue'),
      ['a.yaml:3:1: a tab indents this line: YAML is indented with spaces'],
    ],
    [
      'duplicate keys',
      shop('enabled: true', 'realm: mall', 'enabled: false'),
      [
        'a.yaml:3:1: the key "realm" appears twice, first at 1:1: keep one of them',
        'a.yaml:4:1: the key "enabled" appears twice, first at 2:1: keep one of them',
      ],
    ],
    [
      'a text',
      'shop',
      [
        'a.yaml:1:1: a document is an object (for example, beginning with "realm: my-realm") or a list of objects, not a single value',
      ],
    ],
    [
      'a bomb of aliases',
      shop(
        'a0: &a0 [lol]',
        ...Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`),
      ),
      ['a.yaml:1:1: aliases add more than 16 MB to this document: use fewer, or a script that writes it'],
    ],
    [
      'an alias that contains itself',
      shop('attributes: &a', '  b: *a'),
      [
        'a.yaml:3:3: aliases nest this document more than 100 levels deep, or an alias contains itself: write the value out',
      ],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await getRefusal(text)).toEqual(expected)
  })
})

describe('variables', () => {
  test('every variable without a value is reported, in every document of a file', async () => {
    expect(
      await getRefusal(
        shop('displayName: $(env:NAME)', '---', 'realm: shop', 'loginTheme: $(env:PASWORD)', 'adminTheme: $(ENV:HOST)'),
      ),
    ).toEqual([
      'a.yaml:2:1: $(env:NAME): the environment variable is not set: set it, or give a default, as in $(env:NAME:-default)',
      'a.yaml:5:1: $(env:PASWORD): the environment variable is not set (did you mean PASSWORD?): set it, or give a default, as in $(env:NAME:-default)',
      'a.yaml:6:1: $(ENV:HOST) is unknown: did you mean $(env:…)? For the text "$(" write "$$("',
    ])
  })

  test('no error shows the value of a variable', async () => {
    const lines = await getRefusal(
      client('enabled: $(env:PASSWORD)', 'notBefore: $(env:PASSWORD)'),
      shop('sslRequired: $(env:PASSWORD)'),
    )
    expect(lines).toEqual([
      'a.yaml:4:5: client web: enabled must be true or false, not a string',
      'a.yaml:5:5: client web: notBefore must be a whole number, not a string',
      'b.yaml:2:1: realm shop: sslRequired must be all, external or none',
    ])
  })
})

describe('unknown fields', () => {
  test.each([
    ['of the realm', shop('enabld: true'), ['a.yaml:2:1: realm shop: unknown field enabld; did you mean enabled?']],
    [
      'of the realm, like one whose kind is not managed yet',
      shop('idenityProviders: []'),
      ['a.yaml:2:1: realm shop: unknown field idenityProviders; did you mean identityProviders?'],
    ],
    [
      'that every JavaScript object has',
      shop('constructor: {}', 'toString: 1'),
      [
        'a.yaml:2:1: realm shop: unknown field constructor: remove it',
        'a.yaml:3:1: realm shop: unknown field toString: remove it',
      ],
    ],
    [
      'of a client, in another case',
      client('RedirectURIs: []'),
      ['a.yaml:4:5: client web: unknown field RedirectURIs; did you mean redirectUris?'],
    ],
    [
      'of another kind',
      client('browserFlow: browser'),
      [
        'a.yaml:4:5: client web: unknown field browserFlow: a realm has it, but not a client; is the indentation right?',
      ],
    ],
    [
      'of a protocol mapper of a client',
      client('protocolMappers:', '  - name: floor', '    protocolMaper: x', '    banana: 1'),
      [
        'a.yaml:6:9: protocol mapper floor of client web: unknown field protocolMaper; did you mean protocolMapper?',
        'a.yaml:7:9: protocol mapper floor of client web: unknown field banana: the fields are name, protocol, protocolMapper, config, id and renamedFrom',
      ],
    ],
    [
      'of an execution of a flow',
      flow('authenticationExecutions:', '  - authenticator: auth-cookie', '    requirment: REQUIRED', '    banana: 1'),
      [
        'a.yaml:6:9: authentication flow ours: unknown field authenticationExecutions[0].requirment; did you mean requirement?',
        'a.yaml:7:9: authentication flow ours: unknown field authenticationExecutions[0].banana: the fields are authenticator, authenticatorConfig, requirement, priority, flowAlias and userSetupAllowed',
      ],
    ],
    [
      'of the composites of a role of a client',
      shop('roles:', '  client:', '    account:', '      - name: y', '        composites: { relm: [x], banana: [] }'),
      [
        'a.yaml:6:23: role y of client account: unknown field composites.relm; did you mean realm?',
        'a.yaml:6:34: role y of client account: unknown field composites.banana: the fields are realm and client',
      ],
    ],
    [
      'among the groups of roles',
      shop('roles: { relm: [], application: { web: [] } }'),
      [
        'a.yaml:2:10: realm shop: unknown field roles.relm; did you mean realm?',
        'a.yaml:2:20: realm shop: unknown field roles.application: the fields are realm and client',
      ],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await getRefusal(text)).toEqual(expected)
  })
})

describe('values of a wrong type', () => {
  test.each([
    [
      'of the realm',
      shop(
        'enabled: yes',
        'accessTokenLifespan: 1.5',
        'failureFactor: 1e300',
        'displayName: [a]',
        'supportedLocales: en',
      ),
      [
        'a.yaml:2:1: realm shop: enabled must be true or false, not a string: write true instead of yes',
        'a.yaml:3:1: realm shop: accessTokenLifespan must be a whole number',
        'a.yaml:4:1: realm shop: failureFactor must be a whole number of at most 15 digits',
        'a.yaml:5:1: realm shop: displayName must be a string, not a list',
        'a.yaml:6:1: realm shop: supportedLocales must be a list, not a string: write [ ] around it, or a line for each element that begins with "- "',
      ],
    ],
    [
      'where few values are allowed',
      shop('sslRequired: externl', 'otpPolicyType: banana', 'bruteForceStrategy: 5'),
      [
        'a.yaml:2:1: realm shop: sslRequired must be all, external or none; did you mean external?',
        'a.yaml:3:1: realm shop: otpPolicyType must be totp or hotp',
        'a.yaml:4:1: realm shop: bruteForceStrategy must be MULTIPLE or LINEAR, not a number',
      ],
    ],
    [
      'inside maps and lists',
      client('attributes: { a: [1], b: {}, c: x }', 'redirectUris:', '  - https://a', '  - [x]', '  - null'),
      [
        'a.yaml:4:19: client web: attributes.a must be a string, not a list',
        'a.yaml:4:27: client web: attributes.b must be a string, not an object',
        'a.yaml:7:9: client web: redirectUris[1] must be a string, not a list',
        'a.yaml:8:9: client web: redirectUris[2] must be a string, not null',
      ],
    ],
    [
      'where an object is expected',
      client('attributes: []', 'authenticationFlowBindingOverrides: browser'),
      [
        'a.yaml:4:5: client web: attributes must be an object, not a list',
        'a.yaml:5:5: client web: authenticationFlowBindingOverrides must be an object, not a string',
      ],
    ],
    [
      'of a protocol mapper of a client',
      client('protocolMappers:', '  - name: floor', '    config: { claim.name: [floor] }'),
      ['a.yaml:6:19: protocol mapper floor of client web: config.claim.name must be a string, not a list'],
    ],
    [
      'of an execution of a flow',
      flow('authenticationExecutions:', '  - auth-cookie', '  - requirement: CONDITIONALLY', '    priority: high'),
      [
        'a.yaml:5:9: authentication flow ours: authenticationExecutions[0] must be an object, not a string',
        'a.yaml:6:9: authentication flow ours: authenticationExecutions[1].requirement must be REQUIRED, ALTERNATIVE, CONDITIONAL or DISABLED; did you mean CONDITIONAL?',
        'a.yaml:7:9: authentication flow ours: authenticationExecutions[1].priority must be a whole number, not a string',
      ],
    ],
    [
      'that the database cannot store',
      client('name: "a\\0b"', 'attributes: { colour: "\\ud800" }'),
      [
        'a.yaml:4:5: client web: name must not contain NUL or a lone surrogate',
        'a.yaml:5:19: client web: attributes.colour must not contain NUL or a lone surrogate',
      ],
    ],
    [
      'that the database cannot store, in a key',
      client('attributes: { "a\\0b": x }'),
      ['a.yaml:4:19: client web: a key must not contain NUL or a lone surrogate'],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await getRefusal(text)).toEqual(expected)
  })
})

describe('other values instead of objects', () => {
  test.each([
    [
      'an object for a list',
      shop('clients: {}'),
      ['a.yaml:2:1: realm shop: clients must be a list, not an object: begin each client with "- clientId: <name>"'],
    ],
    [
      'an object for a list, inside of a client',
      client('protocolMappers: { floor: {} }'),
      [
        'a.yaml:4:5: client web: protocolMappers must be a list, not an object: begin each protocol mapper with "- name: <name>"',
      ],
    ],
    [
      'names for objects',
      shop('clients:', '  - web', '  - [api]', '  - 5'),
      [
        'a.yaml:3:5: realm shop: clients[0] must be an object, not a string: begin it with "- clientId: <name>"',
        'a.yaml:4:5: realm shop: clients[1] must be an object, not a list: begin it with "- clientId: <name>"',
        'a.yaml:5:5: realm shop: clients[2] must be an object, not a number: begin it with "- clientId: <name>"',
      ],
    ],
    [
      'a list for groups of roles',
      shop('roles: [{ name: buyer }]'),
      [
        'a.yaml:2:1: realm shop: roles must be an object, not a list: put roles of the realm under "realm", those of a client under "client" and its name',
      ],
    ],
    [
      'a list for roles by client, and an object for a list of them',
      shop('roles: { client: [{ name: buyer }], realm: { name: buyer } }'),
      [
        'a.yaml:2:10: realm shop: roles.client must be an object, not a list: put each list under the name of its client',
        'a.yaml:2:37: realm shop: roles.realm must be a list, not an object: begin each role with "- name: <name>"',
      ],
    ],
    [
      'an object for the steps of a flow',
      flow('authenticationExecutions: {}'),
      ['a.yaml:4:5: authentication flow ours: authenticationExecutions must be a list, not an object'],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await getRefusal(text)).toEqual(expected)
  })
})

describe('names and ids', () => {
  test.each([
    ['a realm without a name', 'enabled: true', ['a.yaml:1:1: a realm needs a name: add "realm: <name>"']],
    ['an empty object', '{}', ['a.yaml:1:1: a realm needs a name: add "realm: <name>"']],
    [
      'a realm whose name is a fraction',
      'realm: 1.5',
      ['a.yaml:1:1: realm: realm must be a string, not a number: put it in quotes'],
    ],
    ['a misspelt name', 'relam: shop', ['a.yaml:1:1: realm: unknown field relam; did you mean realm?']],
    [
      'objects without a name',
      shop('clients: [{ name: Web }]', 'clientScopes:', '  - protocol: saml', '    protocolMappers: [{}]'),
      [
        'a.yaml:2:11: a client needs a name: add "clientId: <name>"',
        'a.yaml:4:5: a client scope needs a name: add "name: <name>"',
        'a.yaml:5:23: a protocol mapper needs a name: add "name: <name>"',
      ],
    ],
    [
      'a flow without a name',
      shop('authenticationFlows: [{ topLevel: true }, { alias: "" }, { alias: null }]'),
      [
        'a.yaml:2:23: an authentication flow needs a name: add "alias: <name>"',
        'a.yaml:2:43: an authentication flow needs a name: add "alias: <name>"',
        'a.yaml:2:58: an authentication flow needs a name: add "alias: <name>"',
      ],
    ],
    [
      'names that are not strings',
      shop('clients: [{ clientId: 0.5 }, { clientId: 1.10 }, { clientId: true }, { clientId: [web] }]'),
      [
        'a.yaml:2:13: client: clientId must be a string, not a number: put it in quotes',
        'a.yaml:2:32: client: clientId must be a string, not a number: put it in quotes',
        'a.yaml:2:52: client: clientId must be a string, not true: put it in quotes',
        'a.yaml:2:72: client: clientId must be a string, not a list',
      ],
    ],
    [
      'ids that are not strings',
      shop('clients: [{ clientId: web, id: 5 }, { clientId: api, id: "" }]'),
      [
        'a.yaml:2:28: client web: id must be a string, not a number',
        'a.yaml:2:54: client api: id must be a string, not an empty one',
      ],
    ],
    [
      'one id for two objects',
      shop('clients: [{ clientId: web, id: x }, { clientId: api, id: x }]'),
      ['a.yaml:2:54: client api has the id of client web at a.yaml:2:28. Remove one of them, since ids are unique.'],
    ],
    [
      'a name with a line break, which is replaced in messages',
      shop('clients: [{ clientId: "a\\nb", banana: 1 }]'),
      ['a.yaml:2:31: client a\uFFFDb: unknown field banana: remove it'],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await getRefusal(text)).toEqual(expected)
  })
})

describe('objects that are declared twice', () => {
  test('in one document', async () => {
    expect(
      await getRefusal(
        shop(
          'clients:',
          '  - clientId: web',
          '  - clientId: web',
          '  - clientId: api',
          '    protocolMappers: [{ name: floor }, { name: floor }]',
        ),
      ),
    ).toEqual([
      'a.yaml:4:5: client web is declared twice, first at 3:5: keep one of them',
      'a.yaml:6:40: protocol mapper floor of client api is declared twice, first at 6:23: keep one of them',
    ])
  })

  test('in one document, once by an alias', async () => {
    expect(await getRefusal(shop('clients:', '  - &web { clientId: web }', '  - *web'))).toEqual([
      'a.yaml:4:5: client web is declared twice, first at 3:10: keep one of them',
    ])
  })

  test('in two files, differently', async () => {
    expect(
      await getRefusal(
        client('name: Web', 'secret: first', 'attributes: { a: 1, b: 2 }'),
        client('name: Shop', 'secret: second', 'attributes: { a: 1, b: 3 }'),
      ),
    ).toEqual([
      'b.yaml:4:5: client web: name is declared differently at a.yaml:4:5. Declare it once, or with the same value.',
      'b.yaml:5:5: client web: secret is declared differently at a.yaml:5:5. Declare it once, or with the same value.',
      'b.yaml:6:25: client web: attributes.b is declared differently at a.yaml:6:25. Declare it once, or with the same value.',
    ])
  })

  test('in two documents of a file, with different ids', async () => {
    expect(await getRefusal(`${client('id: one')}\n---\n${client('id: two')}`)).toEqual([
      'a.yaml:9:5: client web: id is declared differently at a.yaml:4:5. Declare it once, or with the same value.',
    ])
  })

  test('in two sources, differently', async () => {
    const calendar = (more: string) => `realm: shop\n${CALENDAR}    ${more}\n`
    await apply([calendar('description: Yours')], 'base')
    expect(await getRefusal(calendar('description: Mine'))).toEqual([
      expect.stringMatching(
        /^a\.yaml:5:5: client scope calendar: description is declared differently by source base, .*a\.yaml:5\. Declare it once, or with the same value\. If base is this source under an earlier name, run "regent source rename", or pass --name base\.$/,
      ),
    ])
  })

  test('in two files, with the same or with different fields: that is one object', async () => {
    await apply([client('name: Web', 'enabled: true'), client('enabled: true', 'description: Ours')], 'merged')
    const { representation } = await getLiveObject(service, SYSTEM, 'shop', 'client', 'web')
    expect(representation).toMatchObject({ name: 'Web', description: 'Ours' })
    await apply([shop()], 'merged')
  })
})

describe('references to objects that are neither declared nor live', () => {
  test('every reference is reported at its position, with the nearest name', async () => {
    expect(
      await getRefusal(
        shop(
          'browserFlow: browsr',
          'clients:',
          '  - clientId: web',
          '    defaultClientScopes:',
          '      - email',
          '      - calender',
          '    authenticationFlowBindingOverrides: { browser: banana }',
          'roles:',
          '  realm:',
          '    - name: buyer',
          '      composites: { realm: [ofline_access, vip], client: { account: [manage-acount], shpo: [x] } }',
          '    - name: vip',
          '  client: { acount: [{ name: x }] }',
          'authenticationFlows:',
          '  - alias: ours',
          '    authenticationExecutions:',
          '      - authenticator: auth-cookie',
          '        authenticatorConfig: setings',
          '      - flowAlias: parts',
          '  - alias: part',
          'authenticatorConfig: [{ alias: settings }]',
        ),
      ),
    ).toEqual([
      'a.yaml:2:1: realm shop: browserFlow refers to authentication flow browsr, which does not exist. Did you mean browser?',
      'a.yaml:7:9: client web: defaultClientScopes refers to client scope calender, which does not exist. Did you mean calendar?',
      'a.yaml:8:43: client web: authenticationFlowBindingOverrides.browser refers to authentication flow banana, which does not exist. Declare it, or remove the reference.',
      'a.yaml:12:29: role buyer: composites refers to role ofline_access, which does not exist. Did you mean offline_access?',
      'a.yaml:12:70: role buyer: composites refers to role manage-acount of client account, which does not exist. Did you mean manage-account?',
      'a.yaml:12:93: role buyer: composites refers to role x of client shpo, which does not exist. Declare it, or remove the reference.',
      'a.yaml:14:22: role x of client acount: client acount does not exist. Did you mean account?',
      'a.yaml:19:9: authentication flow ours: authenticationExecutions refers to authenticator config setings, which does not exist. Did you mean settings?',
      'a.yaml:20:9: authentication flow ours: authenticationExecutions refers to authentication flow parts, which does not exist. Did you mean part?',
    ])
  })

  test('in a realm that does not exist yet', async () => {
    expect(await getRefusal('realm: mall\ndefaultDefaultClientScopes: [emial]\nbrowserFlow: ""\n')).toEqual([
      'a.yaml:2:30: realm mall: defaultDefaultClientScopes refers to client scope emial, which does not exist. Did you mean email?',
      'a.yaml:3:1: realm mall: browserFlow names no authentication flow. Write its name, or null for none.',
    ])
  })

  test('to an object that is removed from the source', async () => {
    const web = client('defaultClientScopes: [planner]')
    const planner = 'realm: shop\nclientScopes: [{ name: planner, protocol: openid-connect }]\n'
    await apply([web, planner])
    expect(await getRefusal(web)).toEqual([
      'a.yaml:4:27: client web: defaultClientScopes refers to client scope planner, which is no longer declared and would be deleted. Declare it again, or remove the reference.',
    ])
    await apply([shop()])
  })
})

describe('several realms and files', () => {
  test('all problems are reported at once, in the order of files and lines', async () => {
    expect(
      await getRefusal(
        shop('clients:', '  - clientId: web', '    enabld: true', 'enabled: yes', '---', 'enabled: true'),
        'realm: mall\nclientScopes: [{ name: 0.5 }]\n',
        shop('realmm: x', 'clients: [web]'),
      ),
    ).toEqual([
      'a.yaml:4:5: client web: unknown field enabld; did you mean enabled?',
      'a.yaml:5:1: realm shop: enabled must be true or false, not a string: write true instead of yes',
      'a.yaml:7:1: a realm needs a name: add "realm: <name>"',
      'b.yaml:2:18: client scope: name must be a string, not a number: put it in quotes',
      'c.yaml:2:1: realm shop: unknown field realmm; did you mean realm?',
      'c.yaml:3:11: realm shop: clients[0] must be an object, not a string: begin it with "- clientId: <name>"',
    ])
  })

  test('all broken files are reported at once', async () => {
    expect(await getRefusal('a: "b', shop('displayName: $(env:NOWHERE)'), '{"realm": 1')).toEqual([
      'a.yaml:1:6: a quoted string is not closed: its last quote is missing',
      'b.yaml:2:1: $(env:NOWHERE): the environment variable is not set: set it, or give a default, as in $(env:NAME:-default)',
      'c.yaml:1:12: a "{" or "[" is not closed: its "}" or "]" is missing',
    ])
  })

  test('a problem in one realm keeps all realms unchanged', async () => {
    expect(
      await getRefusal(
        'realm: zoo\nbrowserFlow: banana\n',
        'realm: mall\nenabled: true\n',
        shop('clients: [{ clientId: web, defaultClientScopes: [banana] }]'),
      ),
    ).toEqual([
      'a.yaml:2:1: realm zoo: browserFlow refers to authentication flow banana, which does not exist. Declare it, or remove the reference.',
      'c.yaml:2:50: client web: defaultClientScopes refers to client scope banana, which does not exist. Declare it, or remove the reference.',
    ])
  })

  test('master may refer to objects that are created with another realm', async () => {
    const ops = 'roles: { realm: [{ name: ops, composites: { client: { zoo-realm: [view-realm] } } }] }'
    await apply([`realm: master\n${ops}\n`, 'realm: zoo\n'], 'two')
    const { representation } = await getLiveObject(service, SYSTEM, 'master', 'role', 'ops')
    expect(representation.composites).toEqual({ client: { 'zoo-realm': ['view-realm'] } })
  })
})

describe('errors of the service layer', () => {
  test.each([
    ['the name of a realm', 'enabled: true\nrealm: a/b\n', 'realm', 1, "Character '/' not allowed."],
    ['an address', client('redirectUris: ["http://a b"]'), 'client', 3, 'A redirect URI is not a valid URI'],
    ['a protocol', shop('clientScopes:', '  - { name: x, protocol: y }'), 'clientScope', 3, 'Unexpected protocol'],
  ])('%s is reported with its action and position', async (_, text, kind, line, message) => {
    const before = await dumpRows(service)
    const error: unknown = await apply([text]).catch((reason: unknown) => reason)
    expect(await dumpRows(service)).toEqual(before)
    expect(error).toBeInstanceOf(ActionError)
    expect(error).toMatchObject({ message, action: { operation: 'create', kind, position: { line } } })
  })

  const settings: [setting: string, value: string, message: string][] = [
    ['passwordPolicy', 'lenght(8)', 'There is no password policy "lenght". Did you mean length?'],
    [
      'passwordPolicy',
      'digits(1) and zzzzzzzzz',
      'There is no password policy "zzzzzzzzz". Use one of notContainsUsername, ',
    ],
    ['passwordPolicy', 'digits(many)', 'Invalid config for digits: Not a valid number'],
    [
      'passwordPolicy',
      'passwordBlacklist(none.txt)',
      'Invalid config for passwordBlacklist: There is no password blacklist',
    ],
    ['smtpServer', '{ host: mail, from: nobody }', "Invalid sender address 'nobody'."],
    ['smtpServer', '{ host: mail, from: a@b.example, replyTo: nobody }', "Invalid reply-to address 'nobody'."],
    ['clientProfiles', '{ profiles: [{ name: p }, { name: p }] }', 'proposed client profile name duplicated.'],
    ['clientPolicies', '{ policies: [{ name: p, profiles: [x] }] }', 'Policy p contains invalid profile x'],
    ['failureFactor', '-1', 'Failure factor may not be a negative value'],
    [
      'browserSecurityHeaders',
      '{ xFrameOptions: "é" }',
      'browserSecurityHeaders.xFrameOptions is not a valid header value.',
    ],
    [
      'attributes',
      '{ parRequestUriLifespan: long }',
      'The attribute parRequestUriLifespan must be a number of seconds',
    ],
  ]
  test.each(settings)(
    'the setting %s: %s is reported at its line, in an existing and in a new realm',
    async (...row) => {
      const [setting, value, message] = row
      for (const realm of ['shop', 'mall']) {
        const text = `realm: ${realm}\n${CALENDAR}\n${setting}: ${value}\ndisplayName: Shop\n`
        const line = text.split('\n').findIndex((content) => content.startsWith(setting)) + 1
        const error: unknown = await apply([text]).catch((reason: unknown) => reason)
        expect(error, realm).toBeInstanceOf(ActionError)
        const { problems } = error as ActionError
        const operation = realm === 'shop' ? 'update' : 'create'
        expect(problems, realm).toMatchObject([{ position: { line } }])
        expect(problems[0]!.message).toMatch(`${operation} realm ${realm}: ${message}`)
      }
    },
  )
})

test('a placeholder of Keycloak is reported with the variable to write instead', async () => {
  expect(await getRefusal('realm: shop\nsslRequired: ${SSL:none}\n')).toEqual([
    'a.yaml:2:1: realm shop: sslRequired must be all, external or none; ${SSL:none} is not replaced: write $(env:SSL)',
  ])
  expect(await getRefusal('realm: ${env.NAME}\n')).toEqual([
    'a.yaml:1:1: realm: ${env.NAME} is not replaced: write $(env:NAME)',
  ])
})

test.each(['shop', 'new'])(
  'an unknown password policy of the realm %s is reported at its field, with advice',
  async (name) => {
    const error: unknown = await apply([
      `realm: ${name}\nenabled: true\npasswordPolicy: digits(1) and lenght(12)\n`,
    ]).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ActionError)
    const [problem] = (error as ActionError).problems
    expect(problem!.message).toContain('There is no password policy "lenght". Did you mean length?')
    expect(problem!.position.line).toBe(3)
  },
)

test('an error in an application is reported at its place', async () => {
  expect(
    await getRefusal('realm: shop\nclients: []\napplications:\n  - name: till\n    publicClient: maybe\n'),
  ).toEqual(['a.yaml:5:5: client till: publicClient must be true or false, not a string'])
})

test('a copied realm with the id of another realm is refused with the advice to remove the id', async () => {
  await apply(['realm: first\nid: first-id\n'], 'first')
  await expect(apply(['realm: copy\nid: first-id\n'], 'copy')).rejects.toThrow(
    'another realm has the id first-id: remove the id, or declare another one. If the realm was renamed, declare its',
  )
})

test('a file that is not UTF-8 is reported at the first character that cannot be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'invalid-input-'))
  await writeFile(join(folder, 'a.yaml'), Buffer.from('realm: shop\ndisplayName: "Caf\xe9"\n', 'latin1'))
  const options = { name: 'test', root: folder, env: ENV, isAllowed: () => true }
  await expect(readFileSource(folder, options)).rejects.toThrow(
    'a.yaml:2:18: the file is not UTF-8: save it in that encoding',
  )
  await rm(folder, { recursive: true })
})

describe('valid input', () => {
  test.each([
    ['an empty file', ''],
    ['a file that contains only comments', '# nothing yet\n---\n'],
    ['an empty list', '[]'],
  ])('%s declares nothing beside other files, and is refused as the only file', async (_, text) => {
    const before = await dumpRows(service)
    await expect(apply([text], 'empty')).rejects.toThrow('contains no document')
    expect(await dumpRows(service)).toEqual(before)
    const { realms } = await apply([text, shop()], 'empty')
    expect(realms.map(({ plan }) => plan.realm)).toEqual(['shop'])
  })

  test('fields of old versions are ignored with a warning', async () => {
    const { realms } = await apply(
      [
        shop(
          'social: true',
          'userCacheEnabled: false',
          'clients:',
          '  - clientId: old',
          '    clientTemplate: basis',
          '    protocolMappers:',
          '      - { name: a, protocolMapper: oidc-address-mapper, consentText: A }',
          '      - { name: b, protocolMapper: oidc-address-mapper, consentText: B, consentRequired: false }',
          'users: []',
          'socialProviders: { github: secret }',
        ),
      ],
      'earlier',
    )
    expect(realms[0]!.plan.notes.map(({ message, position }) => `${position?.line}: ${message}`)).toEqual([
      '2: social is from an early version of Keycloak and is ignored',
      '6: clientTemplate of client old is from an early version of Keycloak and is ignored',
      '8: consentText of 2 protocol mappers is from an early version of Keycloak and is ignored',
      '11: socialProviders is from an early version of Keycloak and is ignored',
    ])
    const { representation } = await getLiveObject(service, SYSTEM, 'shop', 'client', 'old')
    expect(representation).not.toHaveProperty('clientTemplate')
  })

  test('a field of an old version with a wrong type is an error', async () => {
    expect(await getRefusal(client('clientTemplate: [basis]'))).toEqual([
      'a.yaml:4:5: client web: clientTemplate must be a string, not a list',
    ])
  })
})
