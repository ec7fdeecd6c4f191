// Texts by language in documents: owned text by text.
import { beforeEach, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/render.ts'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { change } from '../support/changes.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { newRealm, testService } from '../support/service.ts'

let service: Service
let realm: string
const state = (document: object) => source([{ realm, ...document }], realm)
const apply = (document: object) => applyAs(service, state(document))
const plan = (document: object) => planText(service, state(document))
const exported = () => service.read(SYSTEM, realm, (context) => exportRealm(context))

beforeEach(async () => {
  service = (await testService()).service
  realm = await newRealm(service)
})

const texts = { de: { 'a.greeting': 'Hallo', bye: '' }, en: { 'a.greeting': 'Hello' } }

test('apply, then plan, is empty, under either name; an export plans to nothing', async () => {
  await apply({ localizationTexts: texts })
  expect(await plan({ localizationTexts: texts })).toContain('Nothing to do.')
  expect(await plan({ messageBundles: texts })).toContain('Nothing to do.')
  const shown = await exported()
  expect(shown.localizationTexts).toEqual(texts)
  expect(await plan(shown)).toContain('Nothing to do.')
})

test('a text that somebody added stays; one that is stated no more goes, a language with it', async () => {
  await apply({ localizationTexts: texts })
  await change(service, ANN, realm, 'localization', ['de'], { 'texts.own': 'Meins' })
  await apply({ localizationTexts: { de: { 'a.greeting': 'Hallo' } } })
  expect((await exported()).localizationTexts).toEqual({ de: { 'a.greeting': 'Hallo', own: 'Meins' } })
})

test('a language that both names state is said with its place', async () => {
  await expect(plan({ localizationTexts: texts, messageBundles: texts })).rejects.toThrow(
    'localization de is stated twice',
  )
  await expect(plan({ messageBundles: [] })).rejects.toThrow('messageBundles must be an object, not a list')
  await expect(plan({ localizationTexts: { de: 'Hallo' } })).rejects.toThrow('localization de: texts')
})
