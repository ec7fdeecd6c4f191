// What is written of a realm that another server gives, where that server has what documents cannot say.
import { expect, test } from 'vitest'
import { migrateRealm } from '../../src/realm-file/export/migrate-realm.ts'

test('of authenticator configs of one alias the first is kept, and the others are told', () => {
  const config = (value: string) => ({ alias: 'review', config: { 'update.profile.on.first.login': value } })
  const other = { alias: 'other', config: { defaultProvider: 'x' } }
  const read = (...authenticatorConfig: object[]) =>
    migrateRealm(
      'https://old.example.org',
      JSON.parse(JSON.stringify({ realm: 'shop', enabled: true, authenticatorConfig })),
    )
  expect(read(config('on'), other, config('off'))).toMatchObject({
    document: { realm: 'shop', enabled: true, authenticatorConfig: [other, config('on')] },
    notices: ['authenticator config review is declared again: the first is used, this one is ignored'],
  })
})

test('fields that Regent does not know are told and left out, and what looks like a variable stays what it is', () => {
  const { document, warnings: notices } = migrateRealm('https://old.example.org', {
    realm: 'shop',
    enabled: true,
    displayName: '$(env:HOME)',
    ofTomorrow: true,
  })
  expect(document).toMatchObject({ realm: 'shop', enabled: true, displayName: '$$(env:HOME)' })
  // Nor is a setting taken for none that an earlier version does not have.
  expect(document).not.toHaveProperty('bruteForceStrategy')
  expect(notices).toEqual([expect.stringContaining('ofTomorrow')])
})
