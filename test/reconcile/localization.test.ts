// Texts by language in documents. Each text is managed separately.
import { expect, test } from 'vitest'
import { updateObject } from '../support/live-objects.ts'
import { apply, exportDocument, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const texts = { de: { 'a.greeting': 'Hallo', bye: '' }, en: { 'a.greeting': 'Hello' } }

test('after an apply, the plans of localizationTexts, messageBundles and an export are empty', async () => {
  await apply({ localizationTexts: texts })
  expect(await plan({ localizationTexts: texts })).toContain('Nothing to do.')
  expect(await plan({ messageBundles: texts })).toContain('Nothing to do.')
  const exportedDocument = await exportDocument()
  expect(exportedDocument.localizationTexts).toEqual(texts)
  expect(await plan(exportedDocument)).toContain('Nothing to do.')
})

test('texts that an administrator added are retained; texts removed from the source are deleted, also with their language', async () => {
  await apply({ localizationTexts: texts })
  await updateObject(service, ANN, realm, 'localization', ['de'], { 'texts.added': 'Meins' })
  await apply({ localizationTexts: { de: { 'a.greeting': 'Hallo' } } })
  expect((await exportDocument()).localizationTexts).toEqual({ de: { 'a.greeting': 'Hallo', added: 'Meins' } })
})

test('a language declared under both names is refused, and so are values of a wrong type', async () => {
  await expect(plan({ localizationTexts: texts, messageBundles: texts })).rejects.toThrow(
    'localization de is declared twice',
  )
  await expect(plan({ messageBundles: [] })).rejects.toThrow('messageBundles must be an object, not a list')
  await expect(plan({ localizationTexts: { de: 'Hallo' } })).rejects.toThrow('localization de: texts')
})
