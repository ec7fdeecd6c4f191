// `regent explain`: whether a source may declare the objects of its documents, and why not.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const toResource = (kind: string, name: string, spec = '') =>
  `apiVersion: regent.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: team-a }\nspec: { realm: acme${spec} }\n`

test('explain and apply refuse what --source-permissions does not permit, with the same reason', async () => {
  const server = await cli.serve('--source', '', '--source-permissions', 'kubernetes:team-a=acme::RealmClient:team-*')
  const flags = adminFlags(server.url)
  await callAsAdmin(server.url, { method: 'POST', path: '', body: { realm: 'acme', enabled: true } })
  await writeFile(
    join(cli.folder, 'team.yaml'),
    [toResource('RealmClient', 'team-app'), toResource('RealmFlow', 'browser')].join('---\n'),
  )
  const refusal = 'namespace team-a may not declare RealmFlow in realm acme: kind not permitted'
  expect(await cli.run('explain', 'team.yaml', ...flags)).toEqual({
    code: 1,
    out: [
      'permitted  client team-app (team.yaml:1): namespace team-a may declare RealmClient in realm acme',
      `refused  authentication flow browser (team.yaml:6): ${refusal}\n`,
    ].join('\n'),
    err: '',
  })
  expect(await cli.run('apply', 'team.yaml', '--name', 'kubernetes:team-a', ...flags)).toEqual({
    code: 1,
    out: '',
    err: `team.yaml:6:1: ${refusal}\n`,
  })
}, 60_000)
