// Plans as Markdown, for comments on pull requests: their content, and the escaping of values of documents.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderMarkdownTable } from '../../src/reconcile/report/markdown-format.ts'
import { renderMarkdownOutcome } from '../../src/reconcile/report/markdown-report.ts'
import type { RenderedOutcome } from '../../src/reconcile/report/outcome-text.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { users } from '../../src/service/users/users.ts'
import { startClientSession } from '../support/client-sessions.ts'
import { updateObject } from '../support/live-objects.ts'
import { apply, getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

/** Starts a session of a new user at a client. */
async function startSession(clientId: string): Promise<void> {
  const client = (await getLive('client', clientId)).id
  const [user] = await service.write(SYSTEM, realm, (context) =>
    users.create(context, [{ representation: { username: 'ann', enabled: true } }]),
  )
  await startClientSession(service, realm, { user: user!.id, client })
}

test('a plan in Markdown has a heading per realm, a section with differences per object, and no secret', async () => {
  const secure = { bruteForceProtected: true, passwordPolicy: 'length(12)' }
  await apply({ ...secure, displayName: 'Before', clients: [{ clientId: 'old' }, { clientId: 'web', name: 'Web' }] })
  await updateObject(service, ANN, realm, 'client', ['web'], { name: 'Not what the file says' })
  const many = { name: 'Many', description: 'd', rootUrl: 'https://a.example', baseUrl: '/', redirectUris: ['/cb'] }
  await startSession('old')
  const declared = {
    ...secure,
    displayName: 'After',
    clients: [
      { clientId: 'web', name: 'Web' },
      { clientId: 'many', ...many, webOrigins: ['+'], secret: 'hunter2' },
    ],
  }
  const markdown = renderMarkdownOutcome(await planSources(service, SYSTEM, [toRealmSource(declared)]), 'planned')
  expect(markdown).not.toContain('hunter2')
  expect(
    markdown
      .replaceAll(realm, 'acme')
      .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, 'TIME')
      .replaceAll(/(?<=at )[\da-f]{12}/g, 'DIGEST')
      .split('\n'),
  ).toEqual([
    '**Plan: 1 to create, 2 to update, 1 to delete.**',
    '',
    '`Source acme at DIGEST; last applied at DIGEST, TIME`',
    '',
    '### Realm `acme`',
    '',
    '- **+** 1 client',
    '- **~** 1 realm, 1 client',
    '- **-** 1 client',
    '',
    '**Effects on users**',
    '',
    '- `client old`: ends 1 session',
    '',
    '**Lint findings**',
    '',
    '- `client many: secret: the secret is in plain text: rotate it, and use $(env:NAME), $(file:PATH) or $(generated:NAME) (plain-secret)` `acme-1.yaml:17:5`',
    '',
    '<details open><summary><b>~</b> <code>realm acme</code> <code>acme-1.yaml:1:1</code> 1 field</summary>',
    '',
    '```diff',
    '- displayName: Before',
    '+ displayName: After',
    '```',
    '',
    '</details>',
    '',
    '<details open><summary><b>~</b> <code>client web</code> <code>acme-1.yaml:6:5</code> 1 field</summary>',
    '',
    '```diff',
    '- name: Not what the file says',
    '+ name: Web',
    '# corrects a change by ann via admin-cli from 127.0.0.1 at TIME',
    '```',
    '',
    '</details>',
    '',
    '<details open><summary><b>+</b> <code>client many</code> <code>acme-1.yaml:8:5</code> 7 fields</summary>',
    '',
    '```diff',
    '+ name: Many',
    '+ description: d',
    '+ rootUrl: https://a.example',
    '+ baseUrl: /',
    '+ redirectUris: /cb',
    '+ webOrigins: "+"',
    '+ secret: (secret)',
    '```',
    '',
    '</details>',
    '',
    '**-** `client old`',
    '',
    '`removed from acme-1.yaml, line 6`',
  ])
})

/** Returns the text outside of code, which GitHub renders as markup. GitHub splits a page into lines, cells and code, in this order. */
function removeCode(markdown: string): string {
  const withoutBlocks = markdown.replace(/^(`{3,})diff\n[\s\S]*?\n\1$/gm, '')
  const cells = withoutBlocks
    .split('\n')
    .flatMap((line) => (line.startsWith('|') ? line.match(/(?:\\.|[^|])+/g)! : [line]))
  return cells
    .map((cell) => cell.replace(/<code>[^<]*<\/code>/g, '').replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, ''))
    .join('\n')
}

test('no value of a document becomes markup or mentions a user', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '`',
        '``',
        '|',
        '\\',
        '\\|',
        '\n',
        '\r',
        '<img src=x>',
        '</code>',
        '</details>',
        '@bob',
        ' ',
        '\u2028',
        '[a](b)',
      ),
    )
    .map((parts) => `INJECTED${parts.join('')}INJECTED`)
  fc.assert(
    fc.property(hostile, fc.nat(10), (text, fields) => {
      const position = { file: text, line: 1, column: 1 }
      const change = { path: `attributes.${text}`, from: text, to: text, reason: 'declared', position } as const
      const by = { name: text, kind: 'administrator', client: text, at: text } as const
      const changes = [
        { ...change, by },
        { ...change, path: 'redirectUris', from: [text], to: [] },
      ]
      const client = { kind: 'client', key: [text] } as const
      const notes = [{ message: text, position }]
      const plan = {
        realm: text,
        creates: false,
        actions: [
          { ...client, operation: 'update', changes, position },
          { ...client, operation: 'create', changes: Array.from({ length: fields }, () => change), deletedBy: by },
        ],
        ignoredDrift: [{ ...client, path: 'name', live: text, by }],
        notes,
        preconditions: [],
      } as const
      const consequences = [{ ...client, operation: 'delete' }] as const
      const effects = [{ ...client, effect: 'endsSessions', count: 2 }]
      const suspended = { revision: 1, by: text, at: text }
      const outcome: RenderedOutcome = { realms: [{ plan, consequences, effects, suspended }], notes }
      expect(removeCode(renderMarkdownOutcome(outcome, 'planned'))).not.toMatch(/INJECTED|<img|@bob|\[a\]/)
      expect(removeCode(renderMarkdownTable(['Head'], [[text, text]]))).not.toMatch(/INJECTED|<img|@bob|\[a\]/)
    }),
  )
})

test('a plan that is too long for a comment reports the number of omitted objects, and cuts no object', async () => {
  const clients = Array.from({ length: 900 }, (_, at) => ({ clientId: `client-${at}`, name: `Client ${at}` }))
  const markdown = renderMarkdownOutcome(await planSources(service, SYSTEM, [toRealmSource({ clients })]), 'planned')
  const objectCount = markdown.match(/^(?:\*\*\+\*\* `|<details><summary><b>\+<\/b> <code>)client client-/gm)!.length
  expect(markdown.length).toBeLessThanOrEqual(65_536)
  expect(markdown.length).toBeGreaterThan(60_000)
  const withoutFields = markdown.match(/^1 field: not shown here$/gm)?.length ?? 0
  const warning =
    /^\*\*This comment is incomplete: (?:the fields of (\d+) objects and )?(\d+) more entries are left out/
  expect(markdown).toMatch(warning)
  const [, shortened = '0', omitted] = warning.exec(markdown)!
  expect([Number(shortened), Number(omitted)]).toEqual([withoutFields, 900 - objectCount])
})
