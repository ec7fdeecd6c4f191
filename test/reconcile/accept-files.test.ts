// Accepting drift in the files themselves: only the lines that have to change differ, and the next plan is empty.
import { diffLines } from 'diff'
import { expect, test } from 'vitest'
import { unwrapResources } from '../../src/realm-file/resources/unwrap-resources.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import type { AcceptedDrift } from '../../src/reconcile/accept/accept.ts'
import { editFiles } from '../../src/reconcile/accept/edit-files.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()

/** A request below the realm; its path may name a client by `{clientId}`. */
type Change = readonly [method: string, path: string, body?: object]

/** A file, changes by REST, the lines that differ afterwards, and the messages about places that remain. */
interface FileCase {
  readonly title: string
  readonly text: string
  readonly changes: readonly Change[]
  readonly lines: readonly string[]
  readonly remaining?: readonly string[]
}

const setRealm = (body: object): Change => ['PUT', '', body]
const setClient = (clientId: string, body: object): Change => ['PUT', `/clients/{${clientId}}`, body]

const CASES: readonly FileCase[] = [
  {
    title: 'a plain value with a comment',
    text: '# The shop\nrealm: REALM\ndisplayName: Shop   # shown to users\n\n# Seconds\naccessTokenLifespan: 300\n',
    changes: [setRealm({ displayName: 'New shop', accessTokenLifespan: 600 })],
    lines: [
      '-displayName: Shop   # shown to users',
      '+displayName: New shop   # shown to users',
      '-accessTokenLifespan: 300',
      '+accessTokenLifespan: 600',
    ],
  },
  {
    title: 'a value in double quotes',
    text: 'realm: REALM\n"displayName": "Shop" # note\nenabled: true\n',
    changes: [setRealm({ displayName: 'A "new" shop' })],
    lines: ['-"displayName": "Shop" # note', '+"displayName": "A \\"new\\" shop" # note'],
  },
  {
    title: 'a value in single quotes',
    text: "realm: REALM\ndisplayName: 'Shop'\nenabled: true\n",
    changes: [setRealm({ displayName: "It's new" })],
    lines: ["-displayName: 'Shop'", "+displayName: 'It''s new'"],
  },
  {
    title: 'a plain value that needs quotes',
    text: 'realm: REALM\ndisplayName: Shop\n',
    changes: [setRealm({ displayName: 'true' })],
    lines: ['-displayName: Shop', "+displayName: 'true'"],
  },
  {
    title: 'a literal block',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    description: | # lines\n      first\n      second\n\n    # after\n    name: Web\n',
    changes: [setClient('web', { description: 'first\nother\nthird\n' })],
    lines: ['-      second', '+      other', '+      third'],
  },
  {
    title: 'a folded block',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    description: >-\n      first\n      second\n    name: Web\n',
    changes: [setClient('web', { description: 'one line' })],
    lines: ['-      first', '-      second', '+      one line'],
  },
  {
    title: 'lists in lines, with comments',
    text: 'realm: REALM\nclients:\n- clientId: web\n  redirectUris:\n  # the first\n  - https://one.example.com/*\n  - https://two.example.com/* # the second\n  # the third\n  - "https://three.example.com/*"\n  name: Web\n',
    changes: [
      setClient('web', {
        redirectUris: [
          'https://one.example.com/*',
          'https://three.example.com/*',
          'https://four.example.com/*',
          'https://five.example.com/*',
        ],
      }),
    ],
    lines: [
      '-  - https://two.example.com/* # the second',
      '+  - https://five.example.com/*',
      '+  - https://four.example.com/*',
    ],
  },
  {
    title: 'a list in brackets',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    webOrigins: [ https://one.example.com, https://two.example.com ] # origins\n    name: Web\n',
    changes: [setClient('web', { webOrigins: ['https://one.example.com'] })],
    lines: [
      '-    webOrigins: [ https://one.example.com, https://two.example.com ] # origins',
      '+    webOrigins: [ https://one.example.com ] # origins',
    ],
  },
  {
    title: 'members of a map',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    attributes:\n      color: red # or blue\n      shape: round\n',
    changes: [setClient('web', { attributes: { color: 'blue', shape: 'round' } })],
    lines: ['-      color: red # or blue', '+      color: blue # or blue'],
  },
  {
    title: 'a value that an alias gives to several objects',
    text: 'realm: REALM\ndisplayName: &name Shop\nclients:\n  - clientId: web\n    name: *name\n  - clientId: app\n    name: *name # the same\n',
    changes: [setClient('app', { name: 'App' })],
    lines: ['-    name: *name # the same', '+    name: App # the same'],
  },
  {
    title: 'a value of a merge key',
    text: 'realm: REALM\nclients:\n  - &web\n    clientId: web\n    name: Shop\n    enabled: true\n  - <<: *web\n    clientId: app\n    # end\nenabled: true\n',
    changes: [setClient('app', { name: 'App' })],
    lines: ['+    name: App'],
  },
  {
    title: 'a map that an alias gives to several objects',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    attributes: &attributes\n      color: red\n      shape: round\n  - clientId: app\n    attributes: *attributes\n',
    changes: [setClient('app', { attributes: { color: 'blue', shape: 'round' } })],
    lines: ['-    attributes: *attributes', '+    attributes: { color: blue, shape: round }'],
  },
  {
    title: 'a deleted object between comments',
    text: 'realm: REALM\nclients:\n  # first\n  - clientId: web\n    name: Web\n  # second\n  - clientId: app\n    redirectUris:\n      - https://app.example.com/*\n    name: App # inside\n  # third\n  - clientId: api\n',
    changes: [['DELETE', '/clients/{app}']],
    lines: [
      '-  - clientId: app',
      '-    redirectUris:',
      '-      - https://app.example.com/*',
      '-    name: App # inside',
    ],
  },
  {
    title: 'a deleted object with children and roles',
    text: 'realm: REALM\nroles:\n  client:\n    web:\n      - name: buyer\n      - name: seller\n    app:\n      - name: reader\nclients:\n  - clientId: web\n    protocolMappers:\n      - name: floor\n        protocol: openid-connect\n        protocolMapper: oidc-hardcoded-claim-mapper\n        config: { claim.name: floor, claim.value: "1" }\n  - clientId: app\n',
    changes: [['DELETE', '/clients/{web}']],
    lines: [
      '-    web:',
      '-      - name: buyer',
      '-      - name: seller',
      '+    web: []',
      '-  - clientId: web',
      '-    protocolMappers:',
      '-      - name: floor',
      '-        protocol: openid-connect',
      '-        protocolMapper: oidc-hardcoded-claim-mapper',
      '-        config: { claim.name: floor, claim.value: "1" }',
    ],
  },
  {
    title: 'the last object of a list that is deleted',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    name: Web\n# end\nenabled: true\n',
    changes: [['DELETE', '/clients/{web}']],
    lines: ['-clients:', '-  - clientId: web', '-    name: Web', '+clients: []'],
  },
  {
    title: 'an unmanaged object beside its like',
    text: 'realm: REALM\nclients:\n  - clientId: web # the shop\n    name: Web\n\n# end\nenabled: true\n',
    changes: [['POST', '/clients', { clientId: 'api', bearerOnly: true, name: 'API' }]],
    lines: ['+  - clientId: api', '+    name: API', '+    bearerOnly: true'],
  },
  {
    title: 'an unmanaged object of a kind that the file does not declare',
    text: 'realm: REALM\nenabled: true # end',
    changes: [['POST', '/roles', { name: 'buyer', description: 'Buys' }]],
    lines: [
      '-enabled: true # end',
      '+enabled: true # end',
      '+roles:',
      '+  realm:',
      '+    - name: buyer',
      '+      description: Buys',
    ],
  },
  {
    title: 'an unmanaged group',
    text: 'realm: REALM\ngroups:\n  - name: staff\n    attributes:\n      floor: ["1"]\n  - name: partners\n',
    changes: [['POST', '/groups', { name: 'visitors' }]],
    lines: ['+  - name: visitors'],
  },
  {
    title: 'JSON with four spaces',
    text: '{\n    "realm": "REALM",\n    "displayName": "Shop",\n    "clients": [\n        {\n            "clientId": "web",\n            "redirectUris": ["https://one.example.com/*"]\n        }\n    ]\n}\n',
    changes: [
      setRealm({ displayName: 'New' }),
      setClient('web', { redirectUris: ['https://one.example.com/*', 'https://two.example.com/*'] }),
    ],
    lines: [
      '-    "displayName": "Shop",',
      '+    "displayName": "New",',
      '-            "redirectUris": ["https://one.example.com/*"]',
      '+            "redirectUris": ["https://one.example.com/*", "https://two.example.com/*"]',
    ],
  },
  {
    title: 'an unmanaged object in JSON',
    text: '{\n  "realm": "REALM",\n  "clients": [\n    {\n      "clientId": "web"\n    }\n  ]\n}\n',
    changes: [['POST', '/clients', { clientId: 'api', bearerOnly: true }]],
    lines: ['+    },', '+    {', '+      "clientId": "api",', '+      "bearerOnly": true'],
  },
  {
    title: 'Kubernetes resources',
    text: 'apiVersion: regent.dev/v1alpha1\nkind: Realm\nmetadata:\n  name: shop\n  namespace: team\nspec:\n  realm: REALM\n  displayName: Shop\n---\napiVersion: regent.dev/v1alpha1\nkind: RealmClient\nmetadata: { name: web, namespace: team }\nspec:\n  realmRef: { name: shop }\n  clientId: web\n  # shown to users\n  name: "Web"\n',
    changes: [setRealm({ displayName: 'New' }), setClient('web', { name: 'New web' })],
    lines: ['-  displayName: Shop', '+  displayName: New', '-  name: "Web"', '+  name: "New web"'],
  },
  {
    title: 'an object in braces',
    text: 'realm: REALM\nclients:\n  - { clientId: web, name: Web, enabled: true } # one line\n  - clientId: api\n',
    changes: [setClient('web', { name: 'Web, new' })],
    lines: [
      '-  - { clientId: web, name: Web, enabled: true } # one line',
      '+  - { clientId: web, name: "Web, new", enabled: true } # one line',
    ],
  },
  {
    title: 'a value with an anchor that another object uses',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    name: &name Shop\n  - clientId: app\n    name: *name\n',
    changes: [setClient('web', { name: 'Web' })],
    lines: [],
    remaining: [
      'client web: name cannot be edited here, since an edit there would change other values: edit it by hand',
    ],
  },
  {
    title: 'secrets, which are left to do',
    text: 'realm: REALM\nclients:\n  - clientId: web\n    secret: first-secret\n    name: Web\n',
    changes: [setClient('web', { secret: 'other-secret', name: 'New' })],
    lines: ['-    name: Web', '+    name: New'],
    remaining: ['client web: secret is a secret: declare the new one, or a variable'],
  },
]

/** Replaces the client in a path by its id. */
async function resolvePath(realm: string, path: string): Promise<string> {
  const clientId = /\{(.*)\}/.exec(path)?.[1]
  if (clientId === undefined) return `/admin/realms/${realm}${path}`
  const [client] = (await server.call('GET', `/admin/realms/${realm}/clients?clientId=${clientId}`)).body
  return `/admin/realms/${realm}${path.replace(/\{.*\}/, client.id)}`
}

/** Returns the changed lines, `-` and `+` first. */
const listChangedLines = (before: string, after: string) =>
  diffLines(before, after).flatMap(({ added, removed, value }) =>
    added || removed
      ? value
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${added ? '+' : '-'}${line.replace(/\r$/, '')}`)
      : [],
  )

const readDocuments = async (texts: ReadonlyMap<string, string>) =>
  unwrapResources([...texts].flatMap(([file, text]) => parseDocuments(file, text))).documents

const files = CASES.flatMap((file) =>
  ['\n', '\r\n'].map((newline) => ({ ...file, newline, lineEnds: newline === '\n' ? 'LF' : 'CRLF' })),
)

test.each(files)(
  'a file with $title differs only in the lines that had to change, with $lineEnds',
  async ({ text, newline, changes, lines, remaining = [] }) => {
    const realm = newName()
    const before = text.replaceAll('REALM', realm).replaceAll('\n', newline)
    const source = createSource([before], realm)
    await applySource(service, source)
    for (const [method, path, body] of changes) {
      const { status } = await server.call(method, await resolvePath(realm, path), { body })
      expect(status, `${method} ${path}`).toBeLessThan(300)
    }
    const accepted: AcceptedDrift = (await server.call('GET', `/regent/v1/accept/${realm}`)).body
    const { file } = source.files[0]!
    const texts = new Map([[file, before]])
    const edited = await editFiles(accepted, { name: realm, realm, texts, read: readDocuments })
    const after = edited.texts.get(file) ?? before
    expect(edited.remaining.map(({ message }) => message)).toEqual(remaining)
    expect(listChangedLines(before, after)).toEqual(lines)
    if (newline === '\r\n') expect(after.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    if (!remaining.length) expect(await planText(service, createSource([after], realm))).toContain('Nothing to do.')
  },
)

test('a file whose value has changed since the apply is not edited', async () => {
  const realm = newName()
  const source = createSource([`realm: ${realm}\ndisplayName: Shop\n`], realm)
  await applySource(service, source)
  await server.call('PUT', `/admin/realms/${realm}`, { body: { displayName: 'Live' } })
  const accepted: AcceptedDrift = (await server.call('GET', `/regent/v1/accept/${realm}`)).body
  const texts = new Map([[source.files[0]!.file, `# changed\nrealm: ${realm}\ndisplayName: Newer\n`]])
  const edited = await editFiles(accepted, { name: realm, realm, texts, read: readDocuments })
  expect(edited.texts.size).toBe(0)
  expect(edited.remaining).toMatchObject([
    {
      message: `realm ${realm}: displayName has another value in the file than the applied one: apply the file, or edit it by hand`,
    },
  ])
  const shifted = new Map([[source.files[0]!.file, `# changed\n\nrealm: ${realm}\nenabled: true\ndisplayName: Shop\n`]])
  const editedAgain = await editFiles(accepted, { name: realm, realm, texts: shifted, read: readDocuments })
  expect([...editedAgain.texts.values()][0]).toBe(`# changed\n\nrealm: ${realm}\nenabled: true\ndisplayName: Live\n`)
})
