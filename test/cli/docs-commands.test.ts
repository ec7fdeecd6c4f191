// Each command that the README and the pages of docs show is executed and prints what the page shows, or is listed with a reason.
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { freePort } from '../support/git.ts'
import { followPage, type PageScenario, PageSession } from '../support/page-session.ts'
import { listPages, type PageStep, readCodeBlocks, readPage, readSteps } from '../support/pages.ts'
import { isFullRun } from '../support/property-options.ts'
import { newDatabase } from '../support/service.ts'
import unexecuted from './docs-commands.json' with { type: 'json' }

const root = join(import.meta.dirname, '..', '..')

/** Whether a command or an output is in the list of those that are not executed. */
/** Whether an entry of the list is about a page: it names the page, or its folder. */
const isOnPage = (target: string, page: string) => target === page || (target.endsWith('/') && page.startsWith(target))
const isListed = ({ page }: PageStep, text: string) =>
  unexecuted.some((entry) => isOnPage(entry.page, page) && text.startsWith(entry.text))

/** Copies the examples of the repository into a folder that is the top of a repository, as in a clone. */
async function copyExamples(session: PageSession): Promise<void> {
  await mkdir(session.path('.git'))
  await cp(join(root, 'examples'), session.path('examples'), { recursive: true })
}

/** Writes the YAML of a page, the first one below the heading, into a file. */
async function writeYaml(session: PageSession, file: string, [page, heading]: [page: string, heading: string]) {
  const block = readCodeBlocks(readPage(page)).find((block) => block.language === 'yaml' && block.heading === heading)
  await session.write(file, `${block!.text}\n`)
}

/** Creates the folder `realms` with the file of `regent init`. */
async function initRealms(session: PageSession) {
  await mkdir(session.path('realms'))
  await session.run('regent init realms/my-realm.yaml')
}

/** Runs work with a changed file, and restores the file. */
async function withEdit(session: PageSession, [file, from, to]: [string, string, string], command: string) {
  await session.edit(file, from, to)
  const { output } = await session.tryRun(command)
  await session.edit(file, to, from)
  return output
}

const scenarios: Readonly<Record<string, PageScenario>> = {
  'README.md': {
    async prepare(session) {
      await copyExamples(session)
      await mkdir(session.path('realms'))
      await writeYaml(session, 'realms/shop.yaml', ['README.md', '## A plan'])
      const declared = await session.read('realms/shop.yaml')
      await session.write(
        'realms/shop.yaml',
        declared.replace(/ {2}- clientId: billing[\s\S]*$/, '').replace(/^.*app\/callback\n/m, ''),
      )
      await session.run('regent apply realms')
      await session.serve('--source', '')
      await session.changeClient('shop', 'web', { name: 'Shop' })
      await session.write('realms/shop.yaml', declared)
    },
    outputs: {
      async 'realm acme'(session) {
        const applied = session.server!.until('Applied: 0 created, 1 updated')
        await session.edit('examples/acme.yaml', 'displayName: ACME', 'displayName: ACME Inc.')
        return applied
      },
    },
  },
  'docs/getting-started.md': {
    prepare: copyExamples,
    atHeading: {
      '## 4. Change the file': (session) => session.edit('my-realms/my-realm.yaml', 'My app', 'My shop'),
    },
  },
  'docs/accept.md': {
    async prepare(session) {
      await mkdir(session.path('realms'))
      const shop = 'realm: shop\ndisplayName: Shop # shown to users\nclients:\n  - clientId: web\n    name: Shop\n'
      await session.write('realms/shop.yaml', shop)
      await session.run('regent apply realms')
      await session.serve('--source', '')
      await session.changeClient('shop', 'web', { name: 'Shop of Acme' })
    },
  },
  'docs/previews.md': {
    async prepare(session) {
      await mkdir(session.path('realms'))
      await session.write('realms/shop.yaml', 'realm: shop\ndisplayName: Shop\n')
      await session.serve('--source', '')
    },
  },
  'docs/encrypted-files.md': {
    async prepare(session) {
      const recorded = join(root, 'test', 'realm-file', 'encrypted')
      await cp(join(recorded, 'regex.yaml'), session.path('shop.yaml'))
      await cp(join(recorded, 'key-1.txt'), session.path('key.txt'))
    },
  },
  'docs/realm-files.md': {
    prepare: initRealms,
    outputs: {
      async '  ~ client shop-web'(session) {
        await session.write('shop.yaml', 'realm: shop\nclients:\n  - clientId: web\n')
        await session.run('regent apply shop.yaml')
        await writeYaml(session, 'shop.yaml', ['docs/realm-files.md', '## Rename an object'])
        return session.run('regent plan shop.yaml')
      },
      'realms/my-realm.yaml:11:5: client my-app: unknown field': (session) =>
        withEdit(session, ['realms/my-realm.yaml', ' name: My', ' nam: My'], 'regent validate realms'),
      async '  note: client a: unknown field'(session) {
        await session.write('kcc.yaml', UNKNOWN_FIELD)
        return session.run('regent plan kcc.yaml --unknown-fields warn')
      },
    },
  },
  'docs/environments.md': { prepare: copyExamples },
  'docs/examples.md': { prepare: copyExamples },
  'docs/variables-and-secrets.md': {
    async prepare(session) {
      await session.write('regent.yaml', 'name: shop\n')
      session.replacements.set('/run/vault', 'vault')
      await mkdir(session.path('vault'))
      await initRealms(session)
      await writeYaml(session, 'shop.yaml', ['docs/variables-and-secrets.md', '## Generated secrets'])
    },
    outputs: {
      async 'shop.yaml:'(session) {
        const secret = '$(generated:billing)'
        return withEdit(session, ['shop.yaml', secret, '$(env:ANN_PASSWORD)'], 'regent plan shop.yaml')
      },
      async '  note: realm shop: ${vault'(session) {
        await rm(session.path('vault/shop_smtp__password'))
        await writeYaml(session, 'shop.yaml', ['docs/variables-and-secrets.md', '## Secrets from a vault directory'])
        return session.run('regent plan shop.yaml')
      },
    },
  },
  'docs/production.md': {
    async prepare(session) {
      const port = await freePort()
      session.replacements.set('https://id.example.com', `http://127.0.0.1:${port}`)
      session.replacements.set('/etc/regent/key', session.path('key'))
      session.replacements.set('postgres://regent:password@db.example.com/regent', session.folder.database!)
      await session.write('admin-password', 'admin-example-1')
      await session.run(`REGENT_PORT=${port}; PASSWORD=admin-example-1; DATABASE=${(await newDatabase()).url}`)
    },
    outputs: {
      async 'These settings are invalid or missing'(session) {
        const names = ['HOSTNAME', 'DATABASE', 'KEY_FILE', 'ADMIN_USER', 'ADMIN_PASSWORD']
        const without = names.map((name) => `-u REGENT_${name}`).join(' ')
        return (await session.tryRun(`env ${without} regent serve --production`)).output
      },
    },
  },
  'docs/rest-api.md': {
    async prepare(session) {
      await copyExamples(session)
      await session.serve()
    },
  },
  'docs/client-registration.md': {
    async prepare(session) {
      await session.serve('--source', '')
      await session.write('shop.yaml', 'realm: shop\nenabled: true\n')
      await session.run('regent apply shop.yaml --name shop')
    },
  },
  'docs/authorization-services.md': {
    async prepare(session) {
      await session.serve('--source', '')
      const page = 'docs/authorization-services.md'
      await writeYaml(session, 'archive.yaml', [page, '## Declare resources and policies'])
    },
  },
  'docs/log-in.md': {
    async prepare(session) {
      await session.serve('--source', '', '--data', 'store')
      session.replacements.set('https://id.example.com', session.server!.url)
      await initRealms(session)
      await session.write('browser', LOGIN_BROWSER)
      await session.run('chmod 755 browser; export BROWSER="$PWD/browser" REGENT_DATABASE=')
    },
    before: {
      async 'regent login --server https://id.example.com --client-id'(session) {
        await session.run('openssl genpkey -algorithm ed25519 -out robot.pem')
        const publicKey = await session.run('openssl pkey -in robot.pem -pubout')
        const attributes = { 'jwt.credential.public.key': publicKey }
        const client = {
          clientId: 'robot',
          serviceAccountsEnabled: true,
          clientAuthenticatorType: 'client-jwt',
          attributes,
        }
        await session.request('POST', '/admin/realms/master/clients', client)
      },
    },
    outputs: {
      async 'The session of context prod has ended'(session) {
        const response = await session.request('GET', '/admin/realms/master/users?username=admin')
        const [admin] = (await response.json()) as { id: string }[]
        await session.request('POST', `/admin/realms/master/users/${admin!.id}/logout`)
        return (await session.tryRun('regent plan realms')).output
      },
    },
  },
  'docs/pull-requests.md': {
    async prepare(session) {
      await session.serve('--source', '')
      await initRealms(session)
      await session.run('SOURCE=git.example.com/acme/realms')
      await session.run('regent apply realms --name "$SOURCE"')
      await session.edit('realms/my-realm.yaml', 'My app', 'My shop')
    },
    before: {
      async 'regent apply pipelines.yaml'(session) {
        const page = 'docs/pull-requests.md'
        await writeYaml(session, 'pipelines.yaml', [page, '## Let a pipeline log in without secrets'])
      },
    },
    outputs: {
      async 'HTTP 403 Forbidden'(session) {
        // Without GitHub, the client has a secret.
        const authentication = { clientAuthenticatorType: 'client-secret', secret: 'secret-1' }
        await session.changeClient('master', 'realms-plan', authentication)
        const client = 'REGENT_CLIENT_ID=realms-plan REGENT_CLIENT_SECRET=secret-1'
        const command = `regent plan realms --server ${session.server!.url} --name "$SOURCE"`
        await session.run(`${client} ${command} --detailed-exitcode`)
        return (await session.tryRun(`${client} ${command} --save`)).output
      },
      'realms/my-realm.yaml:11:5: client my-app: name is declared differently': (session) =>
        withEdit(session, ['realms/my-realm.yaml', 'My shop', 'My store'], 'regent plan realms'),
      async 'The plan kuji-roda-kava is pending approval'(session) {
        await session.edit('realms/my-realm.yaml', /^clients:[\s\S]*/m, '')
        await session.run('regent plan realms --name "$SOURCE" --save plan.json --max-deletions 0')
        const { saved } = JSON.parse(await session.read('plan.json')) as { saved: { id: string } }
        session.replacements.set('kuji-roda-kava', saved.id)
        return (await session.tryRun('regent apply --plan plan.json')).output
      },
    },
  },
  'docs/permissions.md': {
    async prepare(session) {
      await session.serve('--source', '')
      session.replacements.set('https://id.example.com', session.server!.url)
      await session.run('SHOP_PIPELINE_PASSWORD=shop-example-1')
      await writeYaml(session, 'shop.yaml', ['docs/permissions.md', '## An administrator for one realm'])
      await session.run("regent apply shop.yaml --variables 'env:SHOP_*'")
      await session.repository.push({ 'blog.yaml': 'realm: blog\n' })
    },
    outputs: {
      async 'admin made changes of the plan lopa-nime-tura'(session) {
        await session.serve('--source', '', '--require-second-approver')
        await session.write('approved.yaml', 'realm: approved\nclients: [{ clientId: a }]\n')
        await session.run('regent apply approved.yaml --name approved')
        await session.write('approved.yaml', 'realm: approved\n')
        await session.run('regent plan approved.yaml --name approved --save plan.json --max-deletions 0')
        const { saved } = JSON.parse(await session.read('plan.json')) as { saved: { id: string } }
        session.replacements.set('lopa-nime-tura', saved.id)
        const { output } = await session.tryRun(`regent approve ${saved.id}`)
        await session.serve('--source', '')
        session.replacements.set('https://id.example.com', session.server!.url)
        return output
      },
      async 'You lack the permission plan-changes'(session) {
        await session.write('other.yaml', 'realm: other\n')
        return (await session.tryRun('regent plan other.yaml')).output
      },
      async 'This would lock everyone out'(session) {
        await session.write('master.yaml', 'realm: master\nusers:\n  - username: admin\n    enabled: false\n')
        await session.run('unset REGENT_SERVER REGENT_LOGIN_REALM REGENT_USER REGENT_PASSWORD')
        return (await session.tryRun('regent apply master.yaml')).output
      },
      async 'shop.yaml:1:1: source shop'(session) {
        const permissions = ['--source-permissions', 'shop=acme:']
        await session.write('regent.yaml', 'name: shop\n')
        await session.write('shop.yaml', 'realm: shop\n')
        return (await session.serve('--source', 'shop.yaml', ...permissions)).output()
      },
      async 'client c: name is managed by'(session) {
        await mkdir(session.path('team'))
        await session.write('team/a.yaml', 'realm: team\nclients: [{ clientId: c, name: C }]\n')
        await session.run('regent apply team/a.yaml --name team-a --ownership refuse')
        const refused = await session.changeClient('team', 'c', { name: 'D' })
        return Object.values((await refused.json()) as Record<string, string>).join('\n')
      },
    },
  },
  'docs/migrate-from-keycloak.md': {
    async prepare(session) {
      await copyExamples(session)
      await session.serve('--data', 'keycloak')
      session.replacements.set('https://old.example.com', session.server!.url)
      const smtpServer = {
        host: 'mail.example.com',
        from: 'id@example.com',
        auth: 'true',
        user: 'id',
        password: 'mail',
      }
      await session.request('PUT', '/admin/realms/acme', { smtpServer })
      await session.run('REGENT_FROM_PASSWORD=admin')
      await session.run('ACME_SMTP_PASSWORD=mail')
    },
    before: {
      async 'regent plan acme.yaml'(session) {
        await session.write('acme.yaml', 'realm: acme\ndisplayName: Acme\n')
      },
      async 'regent plan acme-realm.json'(session) {
        await session.run('regent export acme --output json > acme-realm.json')
      },
      async 'regent plan export'(session) {
        await cp(join(root, 'test', 'cli', 'directory-export'), session.path('export'), { recursive: true })
      },
    },
    outputs: {
      async '  note: migration from Keycloak'(session) {
        const scopes = '"clientScopes": [{ "name": "profile" }], "defaultDefaultClientScopes": ["profile"]'
        const lines = '\n'.repeat(411)
        await session.write('acme.json', `{ "realm": "old", "keycloakVersion": "22.0.5",${lines}  ${scopes} }\n`)
        return (await session.tryRun('regent validate acme.json')).output
      },
    },
  },
  'docs/migrate-from-terraform.md': {
    async prepare(session) {
      const recorded = join(root, 'test', 'cli', 'terraform')
      await cp(join(recorded, 'terraform.tfstate'), session.path('state.json'))
      await cp(join(recorded, 'acme.yaml'), session.path('keycloak.yaml'))
      await session.run('regent apply keycloak.yaml --name keycloak')
      await session.run('regent source forget keycloak acme --yes')
      await session.run('REGENT_USER=admin; REGENT_PASSWORD=admin; export REGENT_USER REGENT_PASSWORD')
      await session.serve('--source', '')
      session.replacements.set('https://id.example.com', session.server!.url)
    },
  },
  'docs/migrate-from-keycloak-config-cli.md': {
    async prepare(session) {
      await mkdir(session.path('config'))
      const title = '$(env:KEYCLOAK_TITLE_$(env:KEYCLOAK_STAGE:-dev):-ACME)'
      await session.write('config/acme.yaml', `realm: acme\nenabled: true\ndisplayName: ${title}\n`)
      await session.write('config/clients.yaml', 'realm: acme\nclients:\n  - clientId: shop\n')
      await session.run('REGENT_USER=admin; REGENT_PASSWORD=admin')
    },
    outputs: {
      async 'kcc.yaml:6:5'(session) {
        await session.write('kcc.yaml', UNKNOWN_FIELD)
        return (await session.tryRun('regent validate kcc.yaml')).output
      },
      async 'kcc.yaml:7:1'(session) {
        await session.write('kcc.yaml', `${UNKNOWN_FIELD}displayName: $(sys:HOME)\n`)
        return (await session.tryRun('regent validate kcc.yaml')).output
      },
    },
    before: {
      async 'export REGENT_SERVER'(session) {
        await session.serve('--source', '')
        session.replacements.set('https://id.example.com', session.server!.url)
      },
    },
  },
  'docs/gitops.md': {
    async prepare({ replacements, repository }) {
      const { name } = /^file:\/\/(?<name>.*)\.git$/.exec(repository.url)!.groups!
      replacements.set('git.example.com/acme/realms', name!)
      replacements.set('https://git.example.com/acme/realms.git', repository.url)
    },
    atHeading: {
      async '## Look at the state'(session) {
        await session.edit('realms/my-realm.yaml', ' name:', ' nme:')
        await session.run('git -C realms commit --all --message Break && git -C realms push "$REPOSITORY" main')
        await session.run('regent source force git.example.com/acme/realms')
        await expect
          .poll(() => session.run('regent source show git.example.com/acme/realms'), { timeout: 30_000, interval: 500 })
          .toContain('nme')
      },
      async '## Configure several sources'(session) {
        await session.edit('realms/my-realm.yaml', ' nme:', ' name:')
        await mkdir(session.path('realms/team-a'))
        await session.write('realms/team-a/realm.yaml', 'realm: team-a\n')
        await session.run('git -C realms add --all && git -C realms commit --message Fix')
        await session.run('git -C realms push "$REPOSITORY" main')
        await session.write('token', 'secret')
        await mkdir(session.path('platform'))
        await session.write('platform/realm.yaml', 'realm: platform\n')
        await writeYaml(session, 'sources.yaml', ['docs/gitops.md', '## Configure several sources'])
        await session.edit('sources.yaml', /https:.*/, session.repository.url)
        await session.edit('sources.yaml', '/etc/regent/platform', 'platform')
      },
      async '## Accept only signed commits'(session) {
        await session.run('ssh-keygen -q -t ed25519 -N "" -f signer')
        await session.write('signers', `ann@example.com ${(await session.read('signer.pub')).trim()}\n`)
      },
      async '## Roll back'(session) {
        await session.serve('--source', '')
        await session.write('my-realm.yaml', 'realm: my-realm\nroles: { realm: [{ name: editor }] }\n')
        const { revisions } = JSON.parse(await session.run('regent history my-realm --output json')) as {
          revisions: { number: number }[]
        }
        session.replacements.set(' r3', ` r${revisions[0]!.number}`)
        await session.run('regent apply my-realm.yaml')
      },
    },
  },
}

/** Pages that are executed in each run. The others are executed with REGENT_TESTS=all, since each command is a process. */
const QUICK_PAGES = ['README.md', 'docs/getting-started.md']

/** A browser that logs the administrator in at the URL of its argument. */
const LOGIN_BROWSER = `#!${process.execPath}
import('${join(root, 'test', 'support', 'http-browser.ts')}').then(async ({ createHttpBrowser }) => {
  const browser = createHttpBrowser()
  await browser.send(await browser.open(process.argv[2]), { username: 'admin', password: 'admin' })
})
`

/** A realm file with an unknown field at line 6, column 5. */
const UNKNOWN_FIELD = `realm: acme
enabled: true
clients:
  - clientId: a
    publicClient: true
    unknownField: true
`

const pages = listPages().map((page) => ({ page, steps: readSteps(page) }))

describe('commands of pages', () => {
  for (const { page, steps } of pages) {
    const executed = steps.filter((step) => step.commands.some((command) => !isListed(step, command)))
    if (!executed.length) continue
    if (!isFullRun && !QUICK_PAGES.includes(page)) continue
    const engine = page === 'docs/production.md' ? 'postgres' : 'pglite'
    test.runIf(engine === (inject('databaseUrl') ? 'postgres' : 'pglite'))(
      `${page}: each command succeeds, and prints what the page shows`,
      async () => {
        const session = await PageSession.create()
        try {
          await followPage(session, steps, { scenario: scenarios[page] ?? {}, isListed })
        } finally {
          await session.remove()
        }
      },
    )
  }
})

test('a page without executed commands shows no output that is not listed', () => {
  const outputs = pages.flatMap(({ steps }) => {
    const isExecuted = steps.some((step) => step.commands.some((command) => !isListed(step, command)))
    return isExecuted ? [] : steps.filter(({ commands, output }) => !commands.length && output !== undefined)
  })
  expect(outputs.filter((step) => !isListed(step, step.output!))).toEqual([])
})

test('each entry of the list is on its page, and has a reason', () => {
  const missing = unexecuted.filter(({ page, text, reason }) => {
    const steps = pages.filter((candidate) => isOnPage(page, candidate.page)).flatMap((candidate) => candidate.steps)
    const texts = steps.flatMap(({ commands, output }) => [...commands, ...(output === undefined ? [] : [output])])
    return !reason || !texts.some((other) => other.startsWith(text))
  })
  expect(missing).toEqual([])
})

test('commands are in blocks of the language sh or console, and other blocks have a known language', () => {
  const languages = ['', 'sh', 'console', 'yaml', 'json', 'text']
  const command = /^(?:npx|regent|npm|node|git|curl|kubectl|helm|docker|openssl|export|psql|sudo) |^\$ /m
  const misplaced = listPages().flatMap((page) =>
    readCodeBlocks(readPage(page))
      .filter(
        ({ language, text }) =>
          !languages.includes(language) || (['', 'text'].includes(language) && command.test(text)),
      )
      .map(({ line }) => `${page}:${line}`),
  )
  expect(misplaced).toEqual([])
})
