// Texts by language in documents: owned text by text.
import { expect, test } from 'vitest'
import { updateObject } from '../support/live-objects.ts'
import { apply, exportDocument, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const texts = { de: { 'a.greeting': 'Hallo', bye: '' }, en: { 'a.greeting': 'Hello' } }

test('apply, then plan, is empty, under either name; an export plans to nothing', async () => {
  await apply({ localizationTexts: texts })
  expect(await plan({ localizationTexts: texts })).toContain('Nothing to do.')
  expect(await plan({ messageBundles: texts })).toContain('Nothing to do.')
  const shown = await exportDocument()
  expect(shown.localizationTexts).toEqual(texts)
  expect(await plan(shown)).toContain('Nothing to do.')
})

test('a text that somebody added stays; one that is stated no more goes, a language with it', async () => {
  await apply({ localizationTexts: texts })
  await updateObject(service, ANN, realm, 'localization', ['de'], { 'texts.own': 'Meins' })
  await apply({ localizationTexts: { de: { 'a.greeting': 'Hallo' } } })
  expect((await exportDocument()).localizationTexts).toEqual({ de: { 'a.greeting': 'Hallo', own: 'Meins' } })
})

test('a language that both names state is said with its place', async () => {
  await expect(plan({ localizationTexts: texts, messageBundles: texts })).rejects.toThrow(
    'localization de is declared twice',
  )
  await expect(plan({ messageBundles: [] })).rejects.toThrow('messageBundles must be an object, not a list')
  await expect(plan({ localizationTexts: { de: 'Hallo' } })).rejects.toThrow('localization de: texts')
})
