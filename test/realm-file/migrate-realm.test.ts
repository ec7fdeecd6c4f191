// The document for a realm of another server, whose fields documents may not have.
import { expect, test } from 'vitest'
import { migrateRealm } from '../../src/realm-file/export/migrate-realm.ts'

test('the first of several authenticator configs with one alias is used, with a warning for each other', () => {
  const config = (value: string) => ({ alias: 'review', config: { 'update.profile.on.first.login': value } })
  const other = { alias: 'other', config: { defaultProvider: 'x' } }
  const read = (...authenticatorConfig: object[]) =>
    migrateRealm(
      'https://old.example.org',
      JSON.parse(JSON.stringify({ realm: 'shop', enabled: true, authenticatorConfig })),
    )
  expect(read(config('on'), other, config('off'))).toMatchObject({
    document: { realm: 'shop', enabled: true, authenticatorConfig: [other, config('on')] },
    warnings: ['authenticator config review is declared again: the first is used, this one is ignored'],
  })
})

test('unknown fields are left out with a warning, and texts that look like variables are escaped', () => {
  const { document, warnings } = migrateRealm('https://old.example.org', {
    realm: 'shop',
    enabled: true,
    displayName: '$(env:HOME)',
    ofTomorrow: true,
  })
  expect(document).toMatchObject({ realm: 'shop', enabled: true, displayName: '$$(env:HOME)' })
  // A setting that an earlier version does not have keeps its default.
  expect(document).not.toHaveProperty('bruteForceStrategy')
  expect(warnings).toEqual([expect.stringContaining('ofTomorrow')])
})
